// A schema as it is written: declarations, members, attributes. The parser makes it, check.h gives it a
// meaning.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "source.h"

namespace latticec {

struct Argument {
  Place place;
  bool is_number = false;
  bool is_whole = false;
  double number = 0;  // in the base unit
  int64_t whole = 0;  // of a number without a point that fits
  std::string word;   // of what is no number
};

struct Attribute {
  Place place;
  std::string name;
  std::vector<Argument> arguments;
};

struct Member {
  enum class Shape { kOne, kArray, kList, kMap };
  Place place, type_place, count_place;
  std::string name, type, doc;
  std::optional<uint32_t> capacity;  // string(16)
  Shape shape = Shape::kOne;
  uint32_t count = 0;  // of what is not kOne
  std::vector<Attribute> attributes;
  bool is_varied = false;        // its attributes are those of a variant
  bool is_for_everyone = false;  // the variant took its send conditions away
};

struct Structure {
  enum class Kind { kStruct, kUnion, kState, kInput, kArguments };
  Kind kind = Kind::kStruct;
  Place place;
  std::string name, doc;
  std::vector<Attribute> attributes;
  std::vector<Member> members;
  std::string variant_of;            // of a variant: the state that it tells in another way
  std::vector<std::string> omitted;  // of a variant: the members that it has not
  bool is_broken = false;            // it has an error
};

struct Enum {
  struct Value {
    Place place;
    std::string name, doc;
    int64_t value = 0;
  };
  Place place;
  std::string name, doc, base = "int32";
  std::vector<Value> values;
};

struct Rpc {
  Place place, target_place;
  std::string name, doc, target;
  std::vector<Attribute> attributes;
  Structure arguments;
};

struct Object {
  struct State {
    Place place;
    std::string structure, name;  // `name` is that of the structure where none is given
  };
  Place place;
  std::string name, doc;
  std::vector<Attribute> attributes;
  std::vector<State> states;
  std::vector<Rpc> rpcs;
};

/// What one or more files declare, in order: what is used stands before its use.
struct Schema {
  std::vector<std::unique_ptr<Source>> sources;  // the first one is the one that was asked for
  std::string name;                              // the namespace, or "" for none
  Place name_place;
  std::vector<std::string> imports;  // of the first file, as written
  // Addresses stay: other parts refer to declarations.
  std::deque<Enum> enums;
  std::deque<Structure> structures;
  std::deque<Object> objects;
};

}  // namespace latticec
