#include "serialization/type_registry.h"

#include <sodium.h>

#include <algorithm>

#include "base/assert.h"
#include "platform/byte_order.h"
#include "serialization/schema_check.h"

namespace lattice::serialization {
namespace {

constexpr std::string_view kWireVersion = "1.0";  // the version of the protocol (P-02)

bool refuse(std::string* error, const std::string& what) {
  *error = what;
  return false;
}

bool add_rpc(const lattice_rpc_desc& desc, const std::string& type, TypeInfo* info, std::string* error) {
  const std::string where = "type '" + type + "', rpc '" + printable_name(desc.name) + "': ";
  if (!valid_name(desc.name))
    return refuse(error, where + "name must be 1..63 letters, digits, '_', '.' or ':'");
  if (desc.channel < LATTICE_CHANNEL_UNRELIABLE || desc.channel > LATTICE_CHANNEL_RELIABLE_ORDERED) {
    return refuse(error, where + "channel is " + std::to_string(desc.channel) + "; must be 0..3");
  }
  if (desc.target < LATTICE_RPC_TO_SERVER || desc.target > LATTICE_RPC_TO_PEER) {
    return refuse(error, where + "target is " + std::to_string(desc.target) + "; must be 0..3");
  }
  if (desc.delivery != LATTICE_RPC_IMMEDIATE && desc.delivery != LATTICE_RPC_TICK_ALIGNED) {
    return refuse(error, where + "delivery is " + std::to_string(desc.delivery) + "; must be 0 or 1");
  }
  RpcInfo rpc;
  rpc.rpc_id = desc.rpc_id;
  rpc.owner_only = desc.owner_only != 0;
  rpc.channel = desc.channel;
  rpc.target = desc.target;
  rpc.delivery = desc.delivery;
  rpc.name = desc.name;
  for (const RpcInfo& other : info->rpcs) {
    if (other.rpc_id == rpc.rpc_id) {
      return refuse(error,
                    where + "rpc_id " + std::to_string(rpc.rpc_id) + " is taken by '" + other.name + "'");
    }
    if (other.name == rpc.name) return refuse(error, where + "the name is taken");
  }
  if (desc.arguments) {
    std::string inner;
    if (!Layout::compile_structure(*desc.arguments, true, &rpc.arguments, &inner)) {
      return refuse(error, where + inner);
    }
    rpc.has_arguments = true;
    rpc.argument_bytes = rpc.arguments.host_bytes(0);
  }
  info->rpcs.push_back(std::move(rpc));
  return true;
}

std::string rpc_text(const RpcInfo& rpc) {
  std::string text = " rpc " + std::to_string(rpc.rpc_id) + " " + rpc.name + " channel " +
                     std::to_string(rpc.channel) + " target " + std::to_string(rpc.target) + " owner_only " +
                     (rpc.owner_only ? "1" : "0") + " delivery " + std::to_string(rpc.delivery) + "\n";
  if (rpc.has_arguments) text += rpc.arguments.canonical_members();
  return text;
}

}  // namespace

uint32_t type_id_of_name(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

const RpcInfo* TypeInfo::find_rpc(uint16_t rpc_id) const {
  const auto at = std::lower_bound(rpcs.begin(), rpcs.end(), rpc_id,
                                   [](const RpcInfo& rpc, uint16_t id) { return rpc.rpc_id < id; });
  return at != rpcs.end() && at->rpc_id == rpc_id ? &*at : nullptr;
}

bool TypeRegistry::add_type(const lattice_type_desc& raw, std::string* error, uint32_t* type_id) {
  lattice_type_desc desc;
  if (!read_desc(&raw, &desc))
    return refuse(error, "type: bad struct_size; call lattice_type_desc_init first");
  if (types_.size() >= LATTICE_MAX_TYPES) return refuse(error, "more than 1024 types");
  auto info = std::make_unique<TypeInfo>();
  if (!Layout::compile_object(desc, &info->layout, error)) return false;
  info->name = desc.name;
  const std::string where = "type '" + info->name + "': ";
  info->type_id = desc.type_id != 0 ? desc.type_id : type_id_of_name(info->name);
  if (info->type_id == 0) return refuse(error, where + "its name hashes to 0; state a type_id");
  for (const auto& other : types_) {
    if (other->type_id == info->type_id && other->name == info->name) {
      return refuse(error, "type '" + info->name + "' is registered already");
    }
    if (other->type_id == info->type_id) {
      return refuse(error, where + "type_id " + std::to_string(info->type_id) + " is taken by '" +
                               other->name + "'; state another type_id");
    }
    if (other->name == info->name) return refuse(error, where + "the name is taken");
  }
  if (desc.authority != LATTICE_AUTHORITY_SERVER && desc.authority != LATTICE_AUTHORITY_SHARED) {
    return refuse(error, where + "authority is " + std::to_string(desc.authority) + "; must be 0 or 1");
  }
  if ((desc.flags &
       ~uint32_t{LATTICE_TYPE_PREDICTED | LATTICE_TYPE_ALWAYS_RELEVANT | LATTICE_TYPE_QUANTIZE_SIMULATION |
                 LATTICE_TYPE_COMPARE_ALWAYS | LATTICE_TYPE_EXACT_SIMULATION}) != 0) {
    return refuse(error,
                  where + "flags is " + std::to_string(desc.flags) + "; has bits that are not defined");
  }
  constexpr uint32_t kRounded = LATTICE_TYPE_PREDICTED | LATTICE_TYPE_QUANTIZE_SIMULATION;
  if ((desc.flags & LATTICE_TYPE_EXACT_SIMULATION) != 0 && (desc.flags & kRounded) != 0) {
    return refuse(error, where +
                             "flag EXACT_SIMULATION excludes PREDICTED and QUANTIZE_SIMULATION: both sides "
                             "of a prediction round alike");
  }
  if (!(desc.base_priority > 0.0) || !(desc.base_priority <= 1000.0)) {
    return refuse(error, where + "base_priority is " + shortest_decimal(desc.base_priority) +
                             "; must be above 0 and at most 1000");
  }
  info->authority = desc.authority;
  info->flags = desc.flags;
  info->base_priority = desc.base_priority;
  if (desc.rpc_count > LATTICE_MAX_RPCS) {
    return refuse(error, where + "rpc_count is " + std::to_string(desc.rpc_count) + "; must be at most 256");
  }
  if (desc.rpc_count != 0 && !desc.rpcs) return refuse(error, where + "rpcs is null");
  for (uint32_t i = 0; i < desc.rpc_count; ++i) {
    lattice_rpc_desc rpc;
    const uint32_t stride = desc.rpcs->struct_size;
    if (!read_desc(desc_at(desc.rpcs, stride, i), &rpc) || rpc.struct_size != stride) {
      return refuse(error,
                    where + "rpc " + std::to_string(i) + " has a bad struct_size; call its init first");
    }
    if (!add_rpc(rpc, info->name, info.get(), error)) return false;
  }
  std::sort(info->rpcs.begin(), info->rpcs.end(),
            [](const RpcInfo& a, const RpcInfo& b) { return a.rpc_id < b.rpc_id; });
  if (type_id) *type_id = info->type_id;
  const auto at = std::lower_bound(types_.begin(), types_.end(), info->type_id,
                                   [](const auto& type, uint32_t id) { return type->type_id < id; });
  types_.insert(at, std::move(info));
  return true;
}

bool TypeRegistry::set_input(const lattice_input_desc& raw, std::string* error) {
  lattice_input_desc desc;
  if (!read_desc(&raw, &desc))
    return refuse(error, "input: bad struct_size; call lattice_input_desc_init first");
  if (has_input_) return refuse(error, "input: one is registered already");
  if (!desc.structure) return refuse(error, "input: structure is null");
  const char* name = desc.name ? desc.name : desc.structure->name;
  if (!valid_name(name)) return refuse(error, "input: name must be 1..63 letters, digits, '_', '.' or ':'");
  std::string inner;
  if (!Layout::compile_structure(*desc.structure, false, &input_, &inner)) {
    return refuse(error, "input '" + std::string(name) + "': " + inner);
  }
  input_name_ = name;
  has_input_ = true;
  return true;
}

const TypeInfo* TypeRegistry::find(uint32_t type_id) const {
  const auto at = std::lower_bound(types_.begin(), types_.end(), type_id,
                                   [](const auto& type, uint32_t id) { return type->type_id < id; });
  return at != types_.end() && (*at)->type_id == type_id ? at->get() : nullptr;
}

std::string TypeRegistry::canonical_text(std::string_view channel_table) const {
  std::string text = "lattice schema 1\nwire ";
  text.append(kWireVersion).append("\nchannels\n").append(channel_table);
  if (text.back() != '\n') text += '\n';
  for (const auto& type : types_) {
    text += "type " + std::to_string(type->type_id) + " " + type->name + " object\n" +
            type->layout.canonical_members();
    for (const RpcInfo& rpc : type->rpcs) text += rpc_text(rpc);
  }
  if (has_input_) text += "input " + input_name_ + "\n" + input_.canonical_members();
  return text;
}

uint64_t TypeRegistry::schema_hash(std::string_view channel_table) const {
  return schema_hash_of(canonical_text(channel_table));
}

uint64_t schema_hash_of(std::string_view text) {
  uint8_t digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return platform::load_u64_le(digest);
}

}  // namespace lattice::serialization
