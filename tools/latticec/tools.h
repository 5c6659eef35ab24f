// What the compiler does besides compiling: comparing two schemas, putting a file in form, and a first file.
#pragma once

#include <string>
#include <vector>

#include "check.h"

namespace latticec {

/// How two schemas differ where it changes the wire, one line each: "Player.Fighter.health: uint16 bits 10 ->
/// uint16 bits 12". Empty: clients of the one understand servers of the other, if their channels are the
/// same.
std::vector<std::string> differences(const std::string& old_canonical, const std::string& new_canonical);

/// Values of enums that both have and that mean something else in each: "enum Food: 1 is fish, was berries".
/// The wire may be the same all the same.
std::vector<std::string> other_meanings(const Schema& before, const Schema& after);

/// The text in the common form: two spaces for each brace, one between words, comments kept. Errors of its
/// signs and words are in `report`; then the result is empty.
std::string in_form(const Source& source, Report& report);

/// A schema to begin with, which explains itself.
std::string first_schema();

}  // namespace latticec
