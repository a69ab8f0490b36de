// What the command says: on standard output, or standard error.
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

/// Once, at the end. Throws input_error if not all of standard output could be written. Where its
/// reader has gone (krylith ... | head), ends the process as that signal (SIGPIPE) does: without a
/// word, unless the caller had it ignored.
void finish_console();

} // namespace krylith::tool
