// The properties of any bytes that are read as a Matrix Market file.
#pragma once

#include <string_view>

namespace krylith::fuzz {

/// Aborts, with a message, unless all of this holds; each input is checked for some of it:
/// - it is a matrix or an input_error "NAME:LINE: ..." that says what is allowed, nothing else;
/// - one thread and whole text, several threads and small blocks, and a file instead of memory have
///   the same outcome, to the bit and the word;
/// - a matrix is valid, canonical and finite, and reads back the same after it was written;
/// - the heap never holds more than the limit given, and that a small multiple of the text.
void check_market(std::string_view bytes);

} // namespace krylith::fuzz
