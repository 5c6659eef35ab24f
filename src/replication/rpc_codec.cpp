#include "replication/rpc_codec.h"

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::replication {

size_t RpcCodec::encode(const RpcHeader& header, const serialization::Layout* arguments, const void* host,
                        std::span<uint8_t> out, bool* fits) {
  LATTICE_ASSERT(header.network_id != 0);
  bool all_fit = true;
  BitWriter writer(out);
  writer.WriteVarint(header.network_id);
  writer.WriteVarint(header.rpc_id);
  writer.WriteU32(header.tick);
  writer.WriteBits(static_cast<uint64_t>(header.target), 2);
  if (header.target == LATTICE_RPC_TO_PEER) writer.WriteVarint(header.peer);
  if (arguments != nullptr) {
    if (words_.size() < arguments->word_count()) words_.resize(arguments->word_count());
    all_fit = arguments->quantize(&host, words_.data());
    arguments->encode_whole(writer, words_.data());
  }
  if (fits != nullptr) *fits = all_fit;
  return writer.ok() ? writer.finish().size() : 0;
}

RpcRefusal RpcCodec::decode_header(std::span<const uint8_t> body, RpcHeader* header, size_t* argument_bit) {
  BitReader reader(body);
  header->network_id = reader.ReadVarint();
  const uint64_t rpc_id = reader.ReadVarint();
  header->tick = reader.ReadU32();
  header->target = static_cast<lattice_rpc_target>(reader.ReadBits(2));
  header->peer = header->target == LATTICE_RPC_TO_PEER ? reader.ReadVarint() : 0;
  if (!reader.ok() || header->network_id == 0 || rpc_id > UINT16_MAX) return RpcRefusal::kMalformed;
  header->rpc_id = static_cast<uint16_t>(rpc_id);
  *argument_bit = reader.position_bits();
  return RpcRefusal::kNone;
}

RpcRefusal RpcCodec::decode_arguments(std::span<const uint8_t> body, size_t argument_bit,
                                      const serialization::Layout* arguments, void* host) {
  BitReader reader(body);
  reader.Skip(argument_bit);
  if (arguments != nullptr) {
    if (words_.size() < arguments->word_count()) words_.resize(arguments->word_count());
    if (!arguments->decode_whole(reader, words_.data())) return RpcRefusal::kArguments;
  }
  if (!reader.at_end()) return RpcRefusal::kArguments;
  if (arguments != nullptr) arguments->dequantize(words_.data(), &host);
  return RpcRefusal::kNone;
}

}  // namespace lattice::replication
