// Whether devices divide large pieces of memory into blocks.
#pragma once

namespace krylith {

/// Returns false where the environment has KRYLITH_SLABS=off: each allocation is then one of the
/// runtime, so that tools that watch memory see each access beyond an end. Throws usage_error for
/// another value than on or off.
[[nodiscard]] bool slabs_wanted();

} // namespace krylith
