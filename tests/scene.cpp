// Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
#include <scene.hpp>

template class indoubt::recovery<
    scene::bundle_of<scene::shop_of<std::remove_const_t<decltype(scene::bare)>>>>;
template class indoubt::recovery<
    scene::bundle_of<scene::shop_of<std::remove_const_t<decltype(scene::deduplicating)>>>>;
template class indoubt::recovery<
    scene::bundle_of<scene::shop_of<std::remove_const_t<decltype(scene::proving)>>>>;
template class indoubt::recovery<
    scene::bundle_of<scene::shop_of<std::remove_const_t<decltype(scene::from_elsewhere)>>>>;
