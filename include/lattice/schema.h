/// @file
/// Descriptions of networked types: what is replicated, where it lies in host memory, how it is packed. In
/// C++, lattice/authoring/networked.h writes them from a list of members.
///
/// **Ownership.** Registration copies everything. Nothing is kept by pointer, except the functions of
/// lattice_custom_desc.
///
/// **Filling in.** Call the `_init` function of each description first. It sets struct_size, and every other
/// member to its default, which is 0 unless its comment says otherwise. The library walks an array by the
/// struct_size of its first element, so members can be appended in later versions.
///
/// **Host memory** of a member, in the byte order of the machine:
///
///     BOOL                1 byte, 0 or 1 (any other value counts as true)
///     ENUM                signed integer of host_bytes (1, 2, 4 or 8; 0 means 4)
///     INT8..UINT64        the integer
///     FLOAT, DOUBLE       the number
///     VECTOR2, 3, 4       struct { float x, y[, z[, w]]; }
///     DVECTOR2, 3, 4      struct { double x, y[, z[, w]]; }
///     QUATERNION          struct { float x, y, z, w; }
///     STRING              char[capacity + 1], zero-terminated UTF-8
///     FIXED_STRING        char[capacity], zero-padded, not terminated when full; no encoding implied
///     BYTES               struct { uint16_t size; uint8_t data[capacity]; }
///     FIXED64             int64_t holding value * 2^32 (q32.32)
///     NETID               uint64_t, 0 is "none"
///     TICK                uint32_t
///     STRUCT              the nested host structure
///     a union             its alternatives, which may share memory, and one uint8_t, the tag: 0 none, 1 the
///                         first alternative, and so on
///     an array            array_count of the above, without gaps: T[n] or std::array<T, n>
///     a list, a map       array_count of the above, without gaps, and a uint16_t: how many of them count
///     CUSTOM              custom->host_bytes bytes that may be copied with memcpy and may be all zero
///
/// What does not count, elements behind the end of a list and alternatives that are not active, may hold
/// anything. The library never reads it, and sets it to zero when it writes the member.
///
/// **The zero baseline** of an object is an all-zero host structure as the wire has it: false, the value 0 of
/// an enum or its first value where 0 is not declared, the number of the range nearest to 0, the identity
/// rotation, empty strings. Source: docs/spec/data.md.
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

#define LATTICE_MAX_BEHAVIOURS 16       ///< most behaviours of a type
#define LATTICE_MAX_MEMBERS 256         ///< most members of a structure; of a union 255
#define LATTICE_MAX_NESTING 8           ///< most levels of structures inside structures
#define LATTICE_MAX_LEAVES 4096         ///< most components of a type, input or RPC, after flattening
#define LATTICE_MAX_ARRAY_ELEMENTS 256  ///< most elements of an array member
#define LATTICE_MAX_LIST_ELEMENTS 1024  ///< most elements of a list, and entries of a map
#define LATTICE_MAX_HOST_BYTES 65536    ///< most bytes of a host structure
#define LATTICE_MAX_RPCS 256            ///< most RPCs of a type
#define LATTICE_MAX_TYPES 1024          ///< most types of a world
/// Most bytes of a name of a type, member, structure or RPC, which is `[A-Za-z_][A-Za-z0-9_.:]*`
#define LATTICE_MAX_NAME_BYTES 63
#define LATTICE_MAX_STRING_BYTES 65535     ///< largest capacity of STRING, FIXED_STRING and BYTES
#define LATTICE_DEFAULT_STRING_BYTES 1024  ///< capacity of STRING, FIXED_STRING and BYTES that state none
#define LATTICE_MAX_CUSTOM_BYTES 1024      ///< largest capacity of CUSTOM
#define LATTICE_MAX_CODEC_BITS 16384       ///< most bits of a state that a codec may write

/// What a member is. The list at the top of this file has its host memory. Values are stable.
typedef enum lattice_wire_type {
  LATTICE_WIRE_BOOL = 0,           ///< true or false, 1 bit
  LATTICE_WIRE_ENUM = 1,           ///< one of a declared list of values; its place in the list travels
  LATTICE_WIRE_INT8 = 2,           ///< signed integer of 8 bits
  LATTICE_WIRE_UINT8 = 3,          ///< unsigned integer of 8 bits
  LATTICE_WIRE_INT16 = 4,          ///< signed integer of 16 bits
  LATTICE_WIRE_UINT16 = 5,         ///< unsigned integer of 16 bits
  LATTICE_WIRE_INT32 = 6,          ///< signed integer of 32 bits
  LATTICE_WIRE_UINT32 = 7,         ///< unsigned integer of 32 bits
  LATTICE_WIRE_INT64 = 8,          ///< signed integer of 64 bits
  LATTICE_WIRE_UINT64 = 9,         ///< unsigned integer of 64 bits
  LATTICE_WIRE_FLOAT = 10,         ///< IEEE 754 number of 32 bits
  LATTICE_WIRE_DOUBLE = 11,        ///< IEEE 754 number of 64 bits
  LATTICE_WIRE_VECTOR2 = 12,       ///< two floats
  LATTICE_WIRE_VECTOR3 = 13,       ///< three floats
  LATTICE_WIRE_VECTOR4 = 14,       ///< four floats
  LATTICE_WIRE_QUATERNION = 15,    ///< a rotation: a unit quaternion of four floats
  LATTICE_WIRE_STRING = 16,        ///< UTF-8 text of at most `capacity` bytes
  LATTICE_WIRE_FIXED_STRING = 17,  ///< at most `capacity` bytes of any encoding, none of them 0
  LATTICE_WIRE_BYTES = 18,         ///< at most `capacity` bytes of any value
  LATTICE_WIRE_FIXED64 = 19,       ///< fixed-point number with 32 bits before and 32 after the point
  LATTICE_WIRE_NETID = 20,         ///< reference to an object, by its id
  LATTICE_WIRE_STRUCT = 21,        ///< a nested structure
  LATTICE_WIRE_CUSTOM = 22,        ///< a value with a serializer of the application's own
  LATTICE_WIRE_TICK = 23,          ///< a moment: the number of a simulation tick
  LATTICE_WIRE_DVECTOR2 = 24,      ///< two doubles
  LATTICE_WIRE_DVECTOR3 = 25,      ///< three doubles
  LATTICE_WIRE_DVECTOR4 = 26       ///< four doubles
} lattice_wire_type;

/// How a member is packed. LATTICE_ERROR_SCHEMA when an encoding does not fit the type of its member.
typedef enum lattice_encoding {
  /// FIXED for integers of up to 16 bits and FIXED64. VARINT for integers of 32 and 64 bits, NETID and TICK.
  /// RANGED for ENUM. SMALLEST_THREE for QUATERNION. For float, double and vectors: COMPRESSED when
  /// quant[0].precision is above 0, else FULL. The other types have this encoding only.
  LATTICE_ENCODING_DEFAULT = 0,
  LATTICE_ENCODING_FIXED = 1,  ///< integers, FIXED64, NETID, TICK: the full width, bytes little-endian
  /// Integers of 32 and 64 bits, NETID: 7 bits per byte, so that small numbers are short; zig-zag when
  /// signed. FIXED64, TICK: the same of the difference to the baseline.
  LATTICE_ENCODING_VARINT = 2,
  LATTICE_ENCODING_RANGED = 3,      ///< integers in [min_value, max_value]: ceil(log2(count of values)) bits
  LATTICE_ENCODING_BITS = 4,        ///< unsigned integers: `bits` bits
  LATTICE_ENCODING_COMPRESSED = 5,  ///< float, double, vectors: a number of steps in the bounds of `quant`
  LATTICE_ENCODING_FULL = 6,        ///< float, double, vectors, quaternion: every bit of the number
  LATTICE_ENCODING_SMALLEST_THREE = 7,  ///< quaternion: 2 bits, and `bits` for each of three components
  /// FLOAT and VECTOR2 to 4: an IEEE 754 number of 16 bits: 11 bits of precision at any size up to 65504.
  /// A finite value beyond is clamped.
  LATTICE_ENCODING_HALF = 8
} lattice_encoding;

/// What a member means to interpolation, extrapolation, smoothing and prediction. A member has at most one of
/// POSITION, VELOCITY, ACCELERATION, ROTATION, ANGULAR_VELOCITY and ANGLE.
///
/// Members of one behaviour belong together by rank, in the order of declaration through nested structures.
/// The k-th POSITION moves by the k-th VELOCITY and the k-th ACCELERATION with the same number of components;
/// without a velocity an acceleration has no effect. The k-th ROTATION turns by the k-th ANGULAR_VELOCITY of
/// type VECTOR3.
typedef enum lattice_member_flags {
  LATTICE_MEMBER_POSITION = 1 << 0,      ///< float, double, vector: a place; corrections are eased in
  LATTICE_MEMBER_VELOCITY = 1 << 1,      ///< float, double, vector: position units per second
  LATTICE_MEMBER_ACCELERATION = 1 << 2,  ///< float, double, vector: position units per second squared
  LATTICE_MEMBER_ROTATION = 1 << 3,      ///< quaternion: an orientation; corrections are eased in
  /// VECTOR3: radians per second, in the frame that the rotation maps to. FLOAT, DOUBLE: units of the angle
  /// it turns, per second.
  LATTICE_MEMBER_ANGULAR_VELOCITY = 1 << 4,
  /// Integer counter: when it changes, the object is shown at its new place at once.
  LATTICE_MEMBER_TELEPORT = 1 << 5,
  LATTICE_MEMBER_SNAP = 1 << 6,  ///< a number that must not be interpolated, such as ammunition
  /// FLOAT, DOUBLE: a direction in [min, max) of quant[0], where max is min again. Always COMPRESSED. A zero
  /// quant[0] means -pi..pi in 65536 steps. A value outside wraps into the range. The difference of two
  /// angles is taken the short way round. The k-th ANGLE of a behaviour turns by its k-th ANGULAR_VELOCITY of
  /// one component.
  LATTICE_MEMBER_ANGLE = 1 << 7,
  /// The owner of a predicted object does not predict this member, so a change by the authority costs no
  /// rollback. On the owner's client the member holds the newest value received; what the simulation writes
  /// there is overwritten after each tick. Changes no bytes on the wire.
  LATTICE_MEMBER_NOT_PREDICTED = 1 << 8,
  /// Send condition: only the owner of the object gets the member. Send conditions are for members of a
  /// behaviour itself, and a member has at most one of OWNER_ONLY, SKIP_OWNER and PREDICTED_ONLY. Only the
  /// authority's count, and they change nothing of the schema id. A client that does not get a member has the
  /// zero value of it.
  LATTICE_MEMBER_OWNER_ONLY = 1 << 9,
  /// Send condition: everyone but the owner gets the member. A client that predicts the object keeps what its
  /// own simulation writes there: it is never compared with the authority's.
  LATTICE_MEMBER_SKIP_OWNER = 1 << 10,
  /// Send condition: only clients that predict the object get the member, which today is its owner. For types
  /// with LATTICE_TYPE_PREDICTED.
  LATTICE_MEMBER_PREDICTED_ONLY = 1 << 11,
  /// Send condition: the member travels when a client gets the whole state: with the first one, which of a
  /// placed object comes with its first change, and when no older state is left to build on. Changes after
  /// that do not travel. No client predicts it, as with NOT_PREDICTED. May go together with another condition.
  LATTICE_MEMBER_INITIAL_ONLY = 1 << 12,
  /// A number, vector, angle or rotation goes on in the line through its last two states while no newer one
  /// has come, up to its bounds and for lattice_world_config.extrapolation_max_ms. Without this flag, and without a velocity that moves it, it
  /// holds. Not together with SNAP, and not inside a list, a map or a union. Changes nothing of the schema id.
  LATTICE_MEMBER_EXTRAPOLATE = 1 << 13
} lattice_member_flags;

/// How many values a member holds.
typedef enum lattice_container {
  /// One value; with an array_count above 1 an array, which always has that many elements.
  LATTICE_CONTAINER_ARRAY = 0,
  /// 0 to array_count elements. The length travels when it changes, one bit for each element, and the
  /// elements that changed.
  LATTICE_CONTAINER_LIST = 1,
  /// 0 to array_count entries. An entry is a structure, and its first member is the key: an ENUM, an integer
  /// or a NETID. No two entries have the same key, and their order does not count. An entry that was added
  /// travels whole. Of one that stays its value travels when it changed, and of one that was removed two
  /// bits.
  LATTICE_CONTAINER_MAP = 2
} lattice_container;

struct lattice_struct_desc;

/// Bounds and resolution of one component, in the unit of the member. A value outside the bounds is clamped.
typedef struct lattice_quant {
  double min;        ///< smallest value, finite
  double max;        ///< largest value, finite and above min
  double precision;  ///< largest distance of neighbouring values on the wire; above 0, at most max - min
} lattice_quant;

/// A hand-written serializer. Each byte fills from its most significant bit down, as lattice::BitWriter packs
/// it. The library keeps the functions for as long as the world lives, and calls them from inside its own
/// functions. Only serialize and deserialize are needed. Host values that the library makes are aligned to 64
/// bytes.
typedef struct lattice_custom_desc {
  uint32_t struct_size;  ///< set by lattice_custom_desc_init()
  uint32_t host_bytes;   ///< sizeof of the host value, at most LATTICE_MAX_HOST_BYTES
  const char* name;      ///< part of the schema hash: change it whenever the format changes
  /// Writes the value at `host` into `out`, which is zeroed and has `cap` bytes, the capacity of the member.
  /// Returns the number of bits, or SIZE_MAX when the value does not fit; the all-zero value travels then.
  /// The same value must always give the same bits, and the all-zero value must fit.
  size_t (*serialize)(const void* host, uint8_t* out, size_t cap);
  /// Reads a value from the first of the `bit_count` bits of `in`. Returns how many bits it used, or SIZE_MAX
  /// when they are malformed. `host` NULL: only checks and measures. Never trust `in`: it comes from a peer.
  size_t (*deserialize)(const uint8_t* in, size_t bit_count, void* host);
  /// How far apart two values are, in a unit of their own; 0 where a client that predicted the one needs no
  /// correction to the other. lattice_world_take_prediction_error() reports it. NULL: 0 for equal bits,
  /// else 1.
  double (*distance)(const void* a, const void* b);
  /// Writes what is drawn between two values to `out`, which holds `a`: `a` at t = 0, `b` at t = 1. With
  /// LATTICE_MEMBER_EXTRAPOLATE, `t` may be above 1. NULL: the member holds `a` until the time of `b`.
  void (*interpolate)(const void* a, const void* b, double t, void* out);
} lattice_custom_desc;

/// One networked member of a structure.
typedef struct lattice_member_desc {
  uint32_t struct_size;       ///< set by lattice_member_desc_init()
  uint32_t flags;             ///< sum of lattice_member_flags
  const char* name;           ///< unique within the structure
  lattice_wire_type type;     ///< what the member is
  lattice_encoding encoding;  ///< how the member is packed; the default is LATTICE_ENCODING_DEFAULT
  uint32_t offset;            ///< bytes from the start of the enclosing host structure
  /// Bytes of one element in host memory. ENUM: 1, 2, 4 or 8; 0 means 4. Other types: 0, or the true size,
  /// which is then checked.
  uint32_t host_bytes;
  /// STRING, FIXED_STRING, BYTES: most bytes of content; 0 means LATTICE_DEFAULT_STRING_BYTES. CUSTOM: most
  /// encoded bytes, 1..LATTICE_MAX_CUSTOM_BYTES.
  uint32_t capacity;
  uint32_t bits;      ///< BITS: 1 to the width of the type. SMALLEST_THREE: 4..20; 0 means 10
  int64_t min_value;  ///< RANGED: smallest value, in the range of the type
  int64_t max_value;  ///< RANGED: largest value; an unsigned one of 64 bits at most INT64_MAX
  /// COMPRESSED: one entry each for x, y, z, w. An entry of zeros repeats the one before.
  lattice_quant quant[4];
  const int64_t* enum_values;  ///< ENUM: the values, no two equal; NULL means 0 to enum_count - 1
  uint32_t enum_count;         ///< ENUM: how many values there are, 1..65536
  /// Elements of an array, 2..LATTICE_MAX_ARRAY_ELEMENTS. 0 and 1: not an array. LIST, MAP: most elements,
  /// 1..LATTICE_MAX_LIST_ELEMENTS. All other members describe one element, `flags` included.
  uint32_t array_count;
  lattice_container container;  ///< how many values the member holds; default LATTICE_CONTAINER_ARRAY
  /// LIST, MAP: where the uint16_t number of elements lies, in bytes from the first element: behind the last
  /// element that there is room for. 0: next to it, at an even place.
  uint32_t count_offset;
  /// LIST, MAP: bytes of the whole in host memory, from the first element: what lattice_set_prop() and
  /// lattice_get_prop() take. 0: up to the end of the number of elements.
  uint32_t container_bytes;
  /// How much a change of the member hurries its object: a factor of lattice_type_desc.base_priority, above 0
  /// to 1000; 0 means 1. Of several changed members the largest counts. For members of a behaviour itself.
  /// Only the authority's counts, and it changes nothing of the schema id.
  float priority;
  const struct lattice_struct_desc* structure;  ///< STRUCT: its members
  const lattice_custom_desc* custom;            ///< CUSTOM: its serializer
} lattice_member_desc;

/// How a structure travels.
typedef enum lattice_struct_flags {
  /// As a member of another structure it carries a mask of its own, so that only its changed members travel.
  /// Without the flag it travels whole. LATTICE_NETSTRUCT_DELTA sets it.
  LATTICE_STRUCT_DELTA = 1 << 0,
  /// At most one of its members counts, the active alternative, and only that travels. May be a member of
  /// another structure, or an element, and not a behaviour, an input or the arguments of an RPC. Not together
  /// with LATTICE_STRUCT_DELTA. LATTICE_NETUNION sets it.
  LATTICE_STRUCT_UNION = 1 << 1
} lattice_struct_flags;

/// A host structure and its networked members. Behaviours, nested values, arguments of RPCs and inputs use
/// it.
typedef struct lattice_struct_desc {
  uint32_t struct_size;  ///< set by lattice_struct_desc_init()
  uint32_t flags;        ///< sum of lattice_struct_flags
  const char* name;      ///< part of the schema, unless a behaviour or an input has its own
  uint32_t host_bytes;   ///< sizeof, 1..LATTICE_MAX_HOST_BYTES
  uint32_t host_align;   ///< alignof, a power of two up to 64
  /// In the order of the wire. They must not overlap in host memory, except the alternatives of a union.
  const lattice_member_desc* members;
  uint32_t member_count;  ///< 1..LATTICE_MAX_MEMBERS; arguments of an RPC may have 0
  uint32_t tag_offset;    ///< of a union: where its uint8_t tag lies, in bytes from the start
} lattice_struct_desc;

/// Where a codec writes. Each byte fills from its most significant bit down.
typedef struct lattice_bit_output {
  uint8_t* next;      ///< where the next 8 bytes go
  uint64_t pending;   ///< the last `used` bits, which are not stored yet, from the most significant bit down
  uint32_t used;      ///< 0..63; when it comes to 64, the 8 bytes are stored
  uint32_t reserved;  ///< leave at 0
} lattice_bit_output;

/// Where a codec reads.
typedef struct lattice_bit_input {
  const uint8_t* data;   ///< the bytes
  size_t position_bits;  ///< of the next bit; bit 0 is the most significant bit of data[0]
} lattice_bit_input;

/// Code that does for one structure what the library does by interpreting its description: with the same
/// results, bit for bit, and faster. lattice::behaviour_desc() makes one for every declared structure, so a
/// program rarely fills one in. Registration compares it with the description on a few hundred states, and
/// refuses one that differs. Source: docs/decisions/0041-straight-codecs.md.
///
/// State is an array of 32-bit words ("State words" in that decision). In a mask of members the first member
/// has bit member_count - 1, and the last one bit 0. The functions must not fail, allocate or keep anything,
/// and may run on several threads at once. The library keeps them for as long as the world lives.
typedef struct lattice_codec_desc {
  uint32_t struct_size;    ///< set by lattice_codec_desc_init()
  uint32_t word_count;     ///< of a state
  uint32_t max_bits;       ///< most bits that encode() writes, up to LATTICE_MAX_CODEC_BITS
  uint32_t member_count;   ///< of the structure, 1..64
  uint64_t state_members;  ///< the members that quantize() and dequantize() take
  uint64_t wire_members;   ///< the members that encode() and decode() take
  /// Host structure to words. Returns 1, or 0 when a value did not fit and was clamped.
  uint32_t (*quantize)(const void* host, uint32_t* words);
  /// Words to host structure. Leaves all other bytes as they are.
  void (*dequantize)(const uint32_t* words, void* host);
  /// The mask of all members whose words differ.
  uint64_t (*changed)(const uint32_t* base, const uint32_t* current);
  /// Writes the members of `mask`, which are among wire_members and differ. There is room for max_bits and 8
  /// bytes more.
  void (*encode)(lattice_bit_output* out, uint64_t mask, const uint32_t* base, const uint32_t* current);
  /// Reads what encode() wrote into `out`, where the members of `mask` are as in `base`, and leaves all other
  /// members as they are. There are at least max_bits + 80 readable bits. Returns 1, or 0 for bits that
  /// encode() never writes. Never trust them: they come from a peer.
  /// Whatever they are, it moves at most max_bits on.
  uint32_t (*decode)(lattice_bit_input* in, uint64_t mask, const uint32_t* base, uint32_t* out);
} lattice_codec_desc;

/// One behaviour of a type: a named group of members with a host structure of its own.
typedef struct lattice_behaviour_desc {
  uint32_t struct_size;                  ///< set by lattice_behaviour_desc_init()
  uint32_t reserved;                     ///< leave at 0
  const char* name;                      ///< unique within the type; NULL means the name of the structure
  const lattice_struct_desc* structure;  ///< its members
  const lattice_codec_desc* codec;       ///< straight code for them; NULL: the library interprets them
} lattice_behaviour_desc;

/// When an RPC is delivered.
typedef enum lattice_rpc_delivery {
  LATTICE_RPC_IMMEDIATE = 0,    ///< as soon as it arrives
  LATTICE_RPC_TICK_ALIGNED = 1  ///< when the state of the tick of the call is there, at most 500 ms later
} lattice_rpc_delivery;

/// One remote procedure of a type.
typedef struct lattice_rpc_desc {
  uint32_t struct_size;           ///< set by lattice_rpc_desc_init()
  uint16_t rpc_id;                ///< unique within the type
  uint8_t owner_only;             ///< 1: the authority refuses calls from clients that do not own the object
  uint8_t reserved;               ///< leave at 0
  const char* name;               ///< unique within the type; part of the schema
  lattice_channel channel;        ///< its order and loss; default LATTICE_CHANNEL_RELIABLE_ORDERED
  lattice_rpc_target target;      ///< who calls whom; LATTICE_RPC_TO_ALL allows a call on one client too
  lattice_rpc_delivery delivery;  ///< when on_rpc runs; default LATTICE_RPC_IMMEDIATE
  uint32_t reserved2;             ///< leave at 0
  const lattice_struct_desc* arguments;  ///< its arguments; NULL: none
} lattice_rpc_desc;

/// What is special about a type of objects.
typedef enum lattice_type_flags {
  LATTICE_TYPE_PREDICTED = 1 << 0,  ///< the owner simulates it ahead of the authority
  /// Its objects start with LATTICE_RELEVANCE_ALWAYS: they are seen from everywhere in their room
  /// (interest.h).
  LATTICE_TYPE_ALWAYS_RELEVANT = 1 << 1,
  /// After each tick every member is rounded to its value on the wire, even if
  /// lattice_world_config.quantize_simulation is 0.
  LATTICE_TYPE_QUANTIZE_SIMULATION = 1 << 2,
  /// The authority compares every object of the type in each tick, as if all were written: for a game that
  /// keeps pointers to their states and does not call lattice_object_wake().
  LATTICE_TYPE_COMPARE_ALWAYS = 1 << 3,
  /// The authority keeps what it simulates as it is, and rounds only what it sends, even if
  /// lattice_world_config.quantize_simulation is 1: for a type that is told coarsely. Not together with
  /// QUANTIZE_SIMULATION or PREDICTED.
  LATTICE_TYPE_EXACT_SIMULATION = 1 << 4
} lattice_type_flags;

/// A type of objects: its behaviours and its RPCs.
typedef struct lattice_type_desc {
  uint32_t struct_size;              ///< set by lattice_type_desc_init()
  uint32_t type_id;                  ///< unique within the schema; 0 means the 32-bit FNV-1a hash of the name
  const char* name;                  ///< unique within the schema
  lattice_authority_mode authority;  ///< LATTICE_AUTHORITY_SERVER; the other mode is refused
  uint32_t flags;                    ///< sum of lattice_type_flags
  /// Above 0 to 1000, default 1: how early its objects are sent when not all fit. What waits gains priority
  /// faster and faster, so the time that an object waits falls with the square root: 100 times the priority
  /// is a tenth of the wait.
  double base_priority;
  const lattice_behaviour_desc* behaviours;  ///< its state, in the order of the wire
  const lattice_rpc_desc* rpcs;              ///< its RPCs; NULL when rpc_count is 0
  uint32_t behaviour_count;                  ///< 1..LATTICE_MAX_BEHAVIOURS
  uint32_t rpc_count;                        ///< 0..LATTICE_MAX_RPCS
} lattice_type_desc;

/// The command a player sends each tick.
typedef struct lattice_input_desc {
  uint32_t struct_size;                  ///< set by lattice_input_desc_init()
  uint32_t reserved;                     ///< leave at 0
  const char* name;                      ///< part of the schema; NULL means the name of the structure
  const lattice_struct_desc* structure;  ///< its members
} lattice_input_desc;

/// All zero, with struct_size. Does nothing when `d` is NULL. Does not set lattice_last_result().
static inline void lattice_custom_desc_init(lattice_custom_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}
/// All zero, with struct_size. Does nothing when `d` is NULL. Does not set lattice_last_result().
static inline void lattice_member_desc_init(lattice_member_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}
/// All zero, with struct_size. Does nothing when `d` is NULL. Does not set lattice_last_result().
static inline void lattice_struct_desc_init(lattice_struct_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}
/// All zero, with struct_size. Does nothing when `d` is NULL. Does not set lattice_last_result().
static inline void lattice_codec_desc_init(lattice_codec_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}
/// All zero, with struct_size. Does nothing when `d` is NULL. Does not set lattice_last_result().
static inline void lattice_behaviour_desc_init(lattice_behaviour_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}
/// All zero, with struct_size and the reliable, ordered channel. Does nothing when `d` is NULL. Does not set
/// lattice_last_result().
static inline void lattice_rpc_desc_init(lattice_rpc_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
  d->channel = LATTICE_CHANNEL_RELIABLE_ORDERED;
}
/// All zero, with struct_size and a base_priority of 1. Does nothing when `d` is NULL. Does not set
/// lattice_last_result().
static inline void lattice_type_desc_init(lattice_type_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
  d->base_priority = 1.0;
}
/// All zero, with struct_size. Does nothing when `d` is NULL. Does not set lattice_last_result().
static inline void lattice_input_desc_init(lattice_input_desc* d) {
  if (d == NULL) return;
  memset(d, 0, sizeof *d);
  d->struct_size = (uint32_t)sizeof *d;
}

/// Registers an object type. The description is copied. Register every type and the input before the first
/// lattice_place(), pump, lattice_connect(), lattice_spawn(), lattice_placed() or lattice_set_input(): those
/// fix the schema.
///
/// LATTICE_ERROR_SCHEMA when the description is refused, when the state of an object could take more than
/// 65,485 bytes, or 1,096 with LATTICE_TYPE_PREDICTED, or when the schema is fixed already;
/// lattice_last_error() names the cause. LATTICE_ERROR_UNSUPPORTED for LATTICE_AUTHORITY_SHARED.
/// LATTICE_ERROR_NOT_ALLOWED in a world that is transport_only.
///
///     lattice_type_desc type;
///     lattice_type_desc_init(&type);
///     type.name = "Crate";
///     type.behaviours = &crate_behaviour;
///     type.behaviour_count = 1;
///     lattice_register_type(world, &type);
LATTICE_API lattice_result lattice_register_type(lattice_world* world, const lattice_type_desc* desc);

/// Registers the input command that every player sends each tick. A world has at most one. The description is
/// copied. LATTICE_ERROR_SCHEMA when it is refused, when there is one already, or when the schema is fixed.
/// LATTICE_ERROR_NOT_ALLOWED in a world that is transport_only.
LATTICE_API lattice_result lattice_register_input(lattice_world* world, const lattice_input_desc* desc);

/// Returns a hash of everything that is registered. It is final once the schema is fixed. Two sides connect
/// only when their hashes are equal. 0 and an error when the handle is bad.
LATTICE_API uint64_t lattice_world_schema_id(lattice_world* world);

#ifdef __cplusplus
}
#endif
#endif
