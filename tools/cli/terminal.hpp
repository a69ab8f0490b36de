// What standard output can show.
#pragma once

namespace krylith::tool {

struct terminal {
    int columns = 64;
    int lines = 32;
    bool utf8 = false;
};

/// The size of the terminal where standard output is one, else 64 x 32 characters. UTF-8 as the
/// first of LC_ALL, LC_CTYPE and LANG that is set says, as in setlocale(3).
[[nodiscard]] terminal standard_output();

/// Whether a locale's name ("de_DE.UTF-8", "C.utf8") says UTF-8; null is no name.
[[nodiscard]] bool names_utf8(const char* locale);

} // namespace krylith::tool
