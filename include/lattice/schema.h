/// Descriptions of networked types: what is replicated, where it lives in host memory, how it is packed. C17
/// and C++. Everything is copied at registration; nothing here is kept by pointer afterwards, except the
/// functions of lattice_custom_desc.
///
/// Every description starts with struct_size; arrays are walked by the struct_size of their own elements, so
/// fields can be appended later. Fill each with its *_init() first: zero means "default" everywhere else.
///
/// Host memory of a member (little-endian or not: the wire does not care):
///   BOOL                1 byte, 0 or 1 (any other value counts as true)
///   ENUM                signed integer of host_bytes (1, 2, 4 or 8)
///   INT8..UINT64        the integer
///   FLOAT, DOUBLE       the number
///   VECTOR2, 3, 4       struct { float x, y[, z[, w]]; }
///   QUATERNION          struct { float x, y, z, w; }
///   STRING              char[capacity + 1], zero-terminated UTF-8
///   FIXED_STRING        char[capacity], zero-padded, not terminated when full; no encoding implied
///   BYTES               struct { uint16_t size; uint8_t data[capacity]; }
///   FIXED64             int64_t holding value * 2^32 (q32.32)
///   NETID               uint64_t, 0 is "none"
///   STRUCT              the nested host structure
///   an array            array_count of the above, without gaps: T[n] or std::array<T, n>
///   CUSTOM              custom->host_bytes bytes that may be copied with memcpy and may be all zero
///
/// The zero baseline of an object is the quantized form of an all-zero host structure: false, the first enum
/// ordinal (unless the value 0 is declared), the number of the range nearest to 0, the identity rotation,
/// empty strings. Source: docs/spec/data.md.
#ifndef LATTICE_SCHEMA_H
#define LATTICE_SCHEMA_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LATTICE_MAX_BEHAVIOURS 16       ///< per type
#define LATTICE_MAX_MEMBERS 32          ///< per structure
#define LATTICE_MAX_NESTING 8           ///< structures inside structures
#define LATTICE_MAX_LEAVES 512          ///< components of one type, input or RPC after flattening
#define LATTICE_MAX_ARRAY_ELEMENTS 256  ///< of one array member
#define LATTICE_MAX_HOST_BYTES 65536    ///< of one host structure
#define LATTICE_MAX_RPCS 256            ///< per type
#define LATTICE_MAX_TYPES 1024          ///< per world
#define LATTICE_MAX_NAME_BYTES 63       ///< of a type, member, structure or RPC: [A-Za-z_][A-Za-z0-9_.]*
#define LATTICE_MAX_STRING_BYTES 65535  ///< capacity of STRING, FIXED_STRING and BYTES
#define LATTICE_DEFAULT_STRING_BYTES 1024
#define LATTICE_MAX_CUSTOM_BYTES 1024  ///< capacity of CUSTOM

/// How a member travels. Values are stable.
typedef enum lattice_wire_type {
  LATTICE_WIRE_BOOL = 0,
  LATTICE_WIRE_ENUM = 1,
  LATTICE_WIRE_INT8 = 2,
  LATTICE_WIRE_UINT8 = 3,  ///< "byte"
  LATTICE_WIRE_INT16 = 4,
  LATTICE_WIRE_UINT16 = 5,
  LATTICE_WIRE_INT32 = 6,
  LATTICE_WIRE_UINT32 = 7,
  LATTICE_WIRE_INT64 = 8,
  LATTICE_WIRE_UINT64 = 9,
  LATTICE_WIRE_FLOAT = 10,
  LATTICE_WIRE_DOUBLE = 11,
  LATTICE_WIRE_VECTOR2 = 12,
  LATTICE_WIRE_VECTOR3 = 13,
  LATTICE_WIRE_VECTOR4 = 14,
  LATTICE_WIRE_QUATERNION = 15,
  LATTICE_WIRE_STRING = 16,
  LATTICE_WIRE_FIXED_STRING = 17,
  LATTICE_WIRE_BYTES = 18,
  LATTICE_WIRE_FIXED64 = 19,  ///< q32.32
  LATTICE_WIRE_NETID = 20,    ///< reference to an object
  LATTICE_WIRE_STRUCT = 21,
  LATTICE_WIRE_CUSTOM = 22
} lattice_wire_type;

typedef enum lattice_encoding {
  /// FIXED up to 16 bits; VARINT for 32 and 64 bit integers and NETID; RANGED for ENUM; COMPRESSED for float,
  /// double and vectors when quant[0].precision > 0, else FULL; SMALLEST_THREE for QUATERNION; FIXED for
  /// FIXED64.
  LATTICE_ENCODING_DEFAULT = 0,
  LATTICE_ENCODING_FIXED = 1,  ///< integers, FIXED64, NETID: the full width, bytes little-endian
  /// 32/64-bit integers, NETID; zig-zag when signed. FIXED64: zig-zag of the difference to the baseline
  LATTICE_ENCODING_VARINT = 2,
  LATTICE_ENCODING_RANGED = 3,         ///< integers in [min_value, max_value]: ceil(log2(count)) bits
  LATTICE_ENCODING_BITS = 4,           ///< unsigned integers: `bits` bits
  LATTICE_ENCODING_COMPRESSED = 5,     ///< float, double, vectors: quant[component]
  LATTICE_ENCODING_FULL = 6,           ///< float, double, vectors, quaternion: IEEE bits, compared bitwise
  LATTICE_ENCODING_SMALLEST_THREE = 7  ///< quaternion: `bits` per component
} lattice_encoding;

/// What a member means to smoothing and dead reckoning. The k-th POSITION of a behaviour, in declaration
/// order through nested structures, belongs to the k-th VELOCITY and k-th ACCELERATION with the same number
/// of components; the k-th ROTATION to the k-th ANGULAR_VELOCITY (a VECTOR3 in rad/s, in the frame the
/// rotation maps to). Units: a velocity is position units per second.
typedef enum lattice_member_flags {
  LATTICE_MEMBER_POSITION = 1 << 0,
  LATTICE_MEMBER_VELOCITY = 1 << 1,
  LATTICE_MEMBER_ACCELERATION = 1 << 2,
  LATTICE_MEMBER_ROTATION = 1 << 3,
  LATTICE_MEMBER_ANGULAR_VELOCITY = 1 << 4,
  LATTICE_MEMBER_TELEPORT = 1 << 5,  ///< integer counter: a change snaps the whole object
  LATTICE_MEMBER_SNAP = 1 << 6,      ///< a number that must not be interpolated: ammunition, a score
  /// FLOAT or DOUBLE: a direction in [min, max) of quant[0], where max is min again. Always COMPRESSED; a
  /// zero quant[0] means -pi..pi in 65536 steps. A value outside wraps into the range. Compared, interpolated
  /// and smoothed the short way round. The k-th ANGLE of a behaviour turns by its k-th ANGULAR_VELOCITY of
  /// type FLOAT or DOUBLE, in the angle's own unit per second.
  LATTICE_MEMBER_ANGLE = 1 << 7,
  /// Any member of a predicted object: its owner does not predict it. A change by the authority costs no
  /// rollback. On the owner's client the member always holds the newest value received; what the client's
  /// simulation writes there is overwritten after each tick. Changes no bytes on the wire.
  LATTICE_MEMBER_NOT_PREDICTED = 1 << 8
} lattice_member_flags;

struct lattice_struct_desc;

/// Bounds and resolution of one component, in the member's own unit. min < max, precision > 0.
typedef struct lattice_quant {
  double min;        ///< smallest value
  double max;        ///< largest value
  double precision;  ///< largest distance of two values on the wire
} lattice_quant;

/// A hand-written serializer. Bits are MSB first within a byte, as BitWriter packs them.
typedef struct lattice_custom_desc {
  uint32_t struct_size;  ///< set by lattice_custom_desc_init()
  uint32_t host_bytes;   ///< sizeof of the host value
  const char* name;      ///< part of the schema hash: change it whenever the format changes
  /// Writes the value at `host` into `out` (zeroed, `cap` bytes = the member's capacity); returns the number
  /// of bits, or SIZE_MAX when it does not fit. The same value must always give the same bits.
  size_t (*serialize)(const void* host, uint8_t* out, size_t cap);
  /// Reads a value from the first bits of `in` and returns how many it used, or SIZE_MAX if malformed. With
  /// host == NULL it only checks and measures. Never trust `in`: it comes from a peer.
  size_t (*deserialize)(const uint8_t* in, size_t bit_count, void* host);
} lattice_custom_desc;

/// One networked member of a structure.
typedef struct lattice_member_desc {
  uint32_t struct_size;       ///< set by lattice_member_desc_init()
  uint32_t flags;             ///< sum of lattice_member_flags
  const char* name;           ///< unique within the structure
  lattice_wire_type type;     ///< what it is
  lattice_encoding encoding;  ///< how it is packed
  uint32_t offset;            ///< bytes from the start of the enclosing host structure
  /// ENUM: 1, 2, 4 or 8; otherwise 0 or the true size, which is then checked. Of one element, when the member
  /// is an array
  uint32_t host_bytes;
  /// STRING, FIXED_STRING, BYTES: most bytes of content (0: 1024); CUSTOM: most encoded bytes, 1..1024
  uint32_t capacity;
  uint32_t bits;               ///< BITS: 1 .. the type's width; SMALLEST_THREE: 4..20 per component (0: 10)
  int64_t min_value;           ///< RANGED
  int64_t max_value;           ///< RANGED
  lattice_quant quant[4];      ///< COMPRESSED: x, y, z, w; a zero entry repeats the one before
  const int64_t* enum_values;  ///< ENUM: the value of each ordinal; NULL: 0 .. enum_count - 1
  uint32_t enum_count;         ///< ENUM: 1..65536
  /// elements, 1..LATTICE_MAX_ARRAY_ELEMENTS; 0 and 1: not an array. All else here describes one element,
  /// flags included
  uint32_t array_count;
  const struct lattice_struct_desc* structure;  ///< STRUCT
  const lattice_custom_desc* custom;            ///< CUSTOM
} lattice_member_desc;

typedef enum lattice_struct_flags {
  LATTICE_STRUCT_DELTA = 1 << 0  ///< LATTICE_NETSTRUCT_DELTA: nested, it carries its own mask
} lattice_struct_flags;

/// A host structure and its networked members; used for behaviours, nested values, RPC arguments, inputs.
typedef struct lattice_struct_desc {
  uint32_t struct_size;                ///< set by lattice_struct_desc_init()
  uint32_t flags;                      ///< sum of lattice_struct_flags
  const char* name;                    ///< part of the schema
  uint32_t host_bytes;                 ///< sizeof
  uint32_t host_align;                 ///< alignof, a power of two up to 64
  const lattice_member_desc* members;  ///< in the order of the wire
  uint32_t member_count;               ///< 1..LATTICE_MAX_MEMBERS; 0 only for RPC arguments
  uint32_t reserved;                   ///< 0
} lattice_struct_desc;

/// One NetworkBehaviour: a named group of members with its own host structure.
typedef struct lattice_behaviour_desc {
  uint32_t struct_size;                  ///< set by lattice_behaviour_desc_init()
  uint32_t reserved;                     ///< 0
  const char* name;                      ///< NULL: the structure's name; unique within the type
  const lattice_struct_desc* structure;  ///< its members
} lattice_behaviour_desc;

/// When an RPC is delivered.
typedef enum lattice_rpc_delivery {
  LATTICE_RPC_IMMEDIATE = 0,    ///< on arrival
  LATTICE_RPC_TICK_ALIGNED = 1  ///< when the object's applied tick reaches the call's, at most 500 ms later
} lattice_rpc_delivery;

/// One remote procedure of a type.
typedef struct lattice_rpc_desc {
  uint32_t struct_size;           ///< set by lattice_rpc_desc_init()
  uint16_t rpc_id;                ///< unique within the type
  uint8_t owner_only;             ///< 1: the authority refuses calls from clients that do not own the object
  uint8_t reserved;               ///< 0
  const char* name;               ///< part of the schema
  lattice_channel channel;        ///< its reliability; default LATTICE_CHANNEL_RELIABLE_ORDERED
  lattice_rpc_target target;      ///< who may call whom
  lattice_rpc_delivery delivery;  ///< at once, or with the state of its tick
  uint32_t reserved2;             ///< 0
  const lattice_struct_desc* arguments;  ///< NULL: none
} lattice_rpc_desc;

typedef enum lattice_type_flags {
  LATTICE_TYPE_PREDICTED = 1 << 0,           ///< its owner simulates it ahead of the authority
  LATTICE_TYPE_ALWAYS_RELEVANT = 1 << 1,     ///< reserved: nothing is filtered in this version
  LATTICE_TYPE_QUANTIZE_SIMULATION = 1 << 2  ///< members are rounded to their wire value after each tick
} lattice_type_flags;

/// A kind of NetworkObject.
typedef struct lattice_type_desc {
  uint32_t struct_size;              ///< set by lattice_type_desc_init()
  uint32_t type_id;                  ///< 0: FNV-1a32 of the name; collisions are refused
  const char* name;                  ///< unique within the schema
  lattice_authority_mode authority;  ///< who may write its state
  uint32_t flags;                    ///< sum of lattice_type_flags
  double base_priority;  ///< (0, 1000], default 1: how early its objects are sent when not all fit
  const lattice_behaviour_desc* behaviours;  ///< in the order of the wire
  const lattice_rpc_desc* rpcs;              ///< NULL when rpc_count is 0
  uint32_t behaviour_count;                  ///< 1..LATTICE_MAX_BEHAVIOURS
  uint32_t rpc_count;                        ///< 0..LATTICE_MAX_RPCS
} lattice_type_desc;

/// The command a player sends each tick.
typedef struct lattice_input_desc {
  uint32_t struct_size;                  ///< set by lattice_input_desc_init()
  uint32_t reserved;                     ///< 0
  const char* name;                      ///< NULL: the structure's name
  const lattice_struct_desc* structure;  ///< its members
} lattice_input_desc;

static inline void lattice_custom_desc_init(lattice_custom_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}
static inline void lattice_member_desc_init(lattice_member_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}
static inline void lattice_struct_desc_init(lattice_struct_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}
static inline void lattice_behaviour_desc_init(lattice_behaviour_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}
static inline void lattice_rpc_desc_init(lattice_rpc_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
  d->channel = LATTICE_CHANNEL_RELIABLE_ORDERED;
}
static inline void lattice_type_desc_init(lattice_type_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
  d->base_priority = 1.0;
}
static inline void lattice_input_desc_init(lattice_input_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}

/// Registers an object type. The description is copied. Register every type and the input before the first
/// pump, lattice_connect(), lattice_spawn() or lattice_set_input(). LATTICE_ERROR_SCHEMA when the description
/// is refused or the schema is fixed already, LATTICE_ERROR_UNSUPPORTED for LATTICE_AUTHORITY_SHARED.
LATTICE_API lattice_result lattice_register_type(lattice_world* world, const lattice_type_desc* desc);

/// Registers the input command every player sends each tick; at most one. The description is copied.
/// LATTICE_ERROR_SCHEMA as lattice_register_type().
LATTICE_API lattice_result lattice_register_input(lattice_world* world, const lattice_input_desc* desc);

/// A hash of everything that is registered, final once the schema is fixed. Two sides connect only when
/// theirs are equal. 0 and an error when the handle is bad.
LATTICE_API uint64_t lattice_world_schema_id(lattice_world* world);

#ifdef __cplusplus
}
#endif
#endif
