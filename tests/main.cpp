#define DOCTEST_CONFIG_IMPLEMENT // not implied where doctest.h comes precompiled
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
