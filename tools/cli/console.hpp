// Standard output and error: what the command says there, what they can show, and what happens when
// the command is told to end.
#pragma once

#include <cstdio>
#include <string_view>

namespace krylith::tool {

/// Before anything is opened: makes standard descriptors that the caller has closed such that
/// using them fails, since the next file would get their numbers, and text be written into it; and
/// makes a write to a broken pipe, or beyond the limit of a file's size, fail in words.
void prepare_console();

/// Text for people, as printable() has it. Never throws: files are written whatever becomes of
/// standard output, and finish_console() tells.
void print(std::FILE* out, std::string_view text);

/// The bytes of a file for whom standard output was named as its place ("-").
void print_raw(std::FILE* out, std::string_view bytes);

/// Hands on what was printed: a reader at the end of a pipe waits for it. Never throws, either.
void flush(std::FILE* out);

/// Once, at the end. Throws input_error if not all of standard output could be written. Where its
/// reader has gone (krylith ... | head), ends the process as that signal (SIGPIPE) does: without a
/// word, unless the caller had it ignored.
void finish_console();

/// SIGINT, SIGTERM and SIGHUP remove the temporary files of what is being written, and then end the
/// process as they do without this. One that the caller had ignored (nohup) stays ignored.
void clean_up_when_interrupted();

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
