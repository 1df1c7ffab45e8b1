#include <indoubt.hpp>

int main() {
    return indoubt::well_formed(indoubt::identity{"shop", "order-1"}) ? 0 : 1;
}
