// The walk that the emitters of languages with classes share. A structure becomes a class: a field and a
// codec for each member, and two functions, which put its values into a packed state and take them out. What
// codecs do is in the runtime of the language (runtime/). An emitter says how its language writes that down.
#pragma once

#include <string>
#include <vector>

#include "class_plan.h"

namespace latticec {

class ClassEmitter {
 public:
  ClassEmitter(const Checked& checked, Report& report)
      : checked_(checked), report_(report), plans_(plan_classes(checked)) {}
  virtual ~ClassEmitter() = default;
  ClassEmitter(const ClassEmitter&) = delete;
  ClassEmitter& operator=(const ClassEmitter&) = delete;

  /// The enums, structures and objects, in order. When the report has errors, it is of no use.
  std::string declarations();

 protected:
  using Strings = std::vector<std::string>;

  virtual void check_names() = 0;
  virtual std::string enumeration(const Enum& e) = 0;
  virtual std::string structure(const PlannedStructure& s) = 0;
  virtual std::string object(const CheckedObject& o) = 0;

  // Codecs. The names of functions are those of C#.
  virtual std::string call(const std::string& codec, const std::string& function,
                           const Strings& arguments) = 0;
  /// `of` is the class of the element's codec, or "".
  virtual std::string make(const std::string& codec, const std::string& of, const Strings& arguments) = 0;
  virtual std::string integer(const std::string& function, unsigned width, const Strings& arguments) = 0;
  virtual std::string real(const std::string& function, bool is_float, const Strings& arguments) = 0;
  virtual std::string number(int64_t value, unsigned width) = 0;
  virtual std::string codec_of(const CheckedStructure& structure) = 0;

  // Statements. `host` is a field or an element of it, `at` its first word, `codec` the codec of the field,
  // and `each` that of the value.
  struct Value {
    const PlannedMember& member;
    std::string host, codec, at, each;
  };
  virtual Value value(const PlannedStructure& s, const PlannedMember& m) = 0;
  /// An element `i` of it.
  virtual Value element(const Value& v) = 0;
  virtual std::string pack_one(const Value& v) = 0;
  virtual std::string unpack_one(const Value& v) = 0;
  /// The head of a loop over the elements that are packed.
  virtual std::string pack_loop(const Value& v) = 0;
  /// The head of a loop over the elements that are unpacked, which it makes first.
  virtual std::string unpack_loop(const Value& v, const std::string& indent) = 0;
  virtual std::string sort(const Value& v) = 0;

  std::string pack(const PlannedStructure& s, const PlannedMember& m, const std::string& indent);
  std::string unpack(const PlannedStructure& s, const PlannedMember& m, const std::string& indent);
  /// The codec of a member, and its class without that of its elements.
  std::string codec(const PlannedMember& m);
  static std::string codec_class(const PlannedMember& m);
  static std::string element_class(const PlannedMember& m);
  static std::string place_of(const PlannedMember& m) {
    return m.place == 0 ? "at" : "at + " + std::to_string(m.place);
  }
  /// A struct or a union alone: its class has the codec.
  static bool has_codec(const PlannedMember& m) { return !m.is_one() || m.structure == nullptr; }
  static std::string join(const Strings& items) {
    std::string out;
    for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
    return out;
  }
  /// How many words a state of it has.
  uint32_t words_of(const CheckedStructure& structure) const;
  /// The lines of a text, each with `head` in front.
  static std::string lines(const std::string& text, const std::string& head);
  /// The value of an enum that a new object has: that of the zero baseline.
  static const Enum::Value& first_value(const Enum& e);
  /// "To the server, with Arguments."
  static std::string rpc_doc(const CheckedRpc& rpc);
  /// An error when a name is one of `taken`.
  void refuse(const std::string& name, const Place& place, const Strings& taken, const std::string& why);
  /// The names of all types of the schema, each once; what else the file declares is in `extra`.
  struct Declared {
    std::string name;
    Place place;
  };
  Strings check_types(const std::vector<Declared>& extra);

  const Checked& checked_;
  Report& report_;
  std::vector<PlannedStructure> plans_;

 private:
  std::string element_codec(const PlannedMember& m);
  std::string leaf_codec(const PlannedMember& m, size_t i);
  std::string enum_codec(const PlannedMember& m);
};

}  // namespace latticec
