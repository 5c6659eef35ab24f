/// @file
/// Keys and connect tokens.
///
/// An issuer, such as a login server, signs a token that lets one client join one authority once. The token
/// names the public keys of the authority and of the client, so it is of no use to anybody else.
/// docs/guide/tokens-and-keys.md explains how to get there.
#ifndef LATTICE_TOKEN_H
#define LATTICE_TOKEN_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Number of bytes of the identity of a server.
#define LATTICE_SERVER_IDENTITY_BYTES 64u
/// Most bytes of a token.
#define LATTICE_TOKEN_MAX_BYTES 480u
/// Most bytes of user data in a token.
#define LATTICE_TOKEN_USER_DATA_MAX_BYTES 256u

/// Writes the authority's X25519 public key, which tokens name as their audience. It is new in every process,
/// unless lattice_world_config.server_identity keeps it. LATTICE_ERROR_NOT_ALLOWED on a client.
LATTICE_API lattice_result lattice_world_public_key(lattice_world* world, uint8_t out[LATTICE_KEY_BYTES]);

/// Authority: the issuers whose tokens are honoured from now on, in place of
/// lattice_world_config.issuer_public_keys, as when a login server changes its key: give the old key and the
/// new one until the last token of the old one has expired. `count` is 1 or 2 and `keys` that many keys, back
/// to back; copied. Who is connected stays. Tokens of development_tokens go on to count.
/// LATTICE_ERROR_INVALID_ARGUMENT for another count, NULL or a key of zeros, LATTICE_ERROR_NOT_ALLOWED on a
/// client, LATTICE_ERROR_OUT_OF_ORDER inside a callback.
LATTICE_API lattice_result lattice_world_set_issuers(lattice_world* world, const uint8_t* keys,
                                                     uint32_t count);

/// Makes a fresh client key pair and writes its public half, which the token must name as its bearer. The
/// private half stays in the world until lattice_connect() uses it; each token needs a key of its own. The
/// world keeps 4 unused keys and drops the oldest. LATTICE_ERROR_NOT_ALLOWED on an authority.
LATTICE_API lattice_result lattice_world_new_client_key(lattice_world* world, uint8_t out[LATTICE_KEY_BYTES]);

/// Makes the identity of a server from the system's entropy: secret bytes to keep and to give to
/// lattice_world_config.server_identity. One identity is for one server at a time. The bytes are an X25519
/// secret key, then the key of the server's stateless resets.
LATTICE_API lattice_result lattice_server_identity_generate(uint8_t identity[LATTICE_SERVER_IDENTITY_BYTES]);

/// Writes the public key of a server with that identity, as lattice_world_public_key() gives it.
/// LATTICE_ERROR_INVALID_ARGUMENT for an identity whose key or reset key is all zero.
LATTICE_API lattice_result lattice_server_identity_public_key(
    const uint8_t identity[LATTICE_SERVER_IDENTITY_BYTES], uint8_t public_key[LATTICE_KEY_BYTES]);

/// Makes an Ed25519 issuer key pair. `seed` is secret; it stays with the issuer. `public_key` goes into the
/// authority's configuration.
LATTICE_API lattice_result lattice_issuer_generate(uint8_t seed[LATTICE_KEY_BYTES],
                                                   uint8_t public_key[LATTICE_KEY_BYTES]);

/// Writes the public key that belongs to `seed`. LATTICE_ERROR_INVALID_ARGUMENT for a seed of zeros.
LATTICE_API lattice_result lattice_issuer_public_key(const uint8_t seed[LATTICE_KEY_BYTES],
                                                     uint8_t public_key[LATTICE_KEY_BYTES]);

/// What goes into a token. Fill it with lattice_token_request_init() first.
typedef struct lattice_token_request {
  uint32_t struct_size;  ///< set by lattice_token_request_init()
  /// How many seconds from issued_unix_s on the token may be used, 1..3600, default 300.
  uint32_t lifetime_s;
  uint64_t issued_unix_s;  ///< seconds since 1970; 0, the default: now, by the clock of the system
  uint64_t schema_id;      ///< lattice_world_schema_id() of both sides; 0, the default: not stated
  uint8_t server_public_key[LATTICE_KEY_BYTES];  ///< lattice_world_public_key() of the authority
  uint8_t client_public_key[LATTICE_KEY_BYTES];  ///< lattice_world_new_client_key() of the bearer
  uint8_t player[16];   ///< a pseudonym for the player, 0 by default; readable on the wire
  uint8_t session[16];  ///< a name for the session, 0 by default; readable on the wire
  /// Bytes for the authority, which finds them in on_admit and lattice_conn_info; readable on the wire.
  /// Copied. NULL when user_data_bytes is 0.
  const uint8_t* user_data;
  uint32_t user_data_bytes;  ///< size of user_data, 0..256, default 0
} lattice_token_request;

/// Fills the defaults of the first `struct_size` bytes. lattice_token_request_init() calls it with the size
/// the caller was compiled with, so the structure of an older program is never overrun.
/// LATTICE_ERROR_INVALID_ARGUMENT when `struct_size` is below 4 or above 4096.
LATTICE_API lattice_result lattice_token_request_init_sized(lattice_token_request* request,
                                                            uint32_t struct_size);
/// Fills in every default. Call it first.
static inline void lattice_token_request_init(lattice_token_request* request) {
  lattice_token_request_init_sized(request, (uint32_t)sizeof *request);
}

/// Signs a connect token into `out` and writes its length to `out_bytes`. LATTICE_TOKEN_MAX_BYTES are always
/// enough; with too few, LATTICE_ERROR_BUFFER_TOO_SMALL. LATTICE_ERROR_CONFIG names a member of `request`
/// that is out of range, or a public key that is all zero. Needs no world; may be called on any thread.
///
///     uint8_t token[LATTICE_TOKEN_MAX_BYTES];
///     size_t token_bytes = 0;
///     lattice_token_issue(issuer_seed, &request, token, sizeof token, &token_bytes);
LATTICE_API lattice_result lattice_token_issue(const uint8_t issuer_seed[LATTICE_KEY_BYTES],
                                               const lattice_token_request* request, uint8_t* out,
                                               size_t capacity, size_t* out_bytes);

/// Makes a connect token for this client and a server on this machine that the same user runs with
/// lattice_world_config.development_tokens 1. Makes the client's key pair, as lattice_world_new_client_key()
/// does, and signs with the server's own issuer.
///
/// `server` is the address that lattice_connect() will get, such as "127.0.0.1:27015", or the path of the
/// file that lattice_world_development_file() names in the server; a path has a '/', an address has none.
/// `request` gives lifetime, player, session and user data; its two public keys are not used, and an
/// issued_unix_s of 0 means now by lattice_world_config.unix_seconds. `request` may be NULL: the defaults of
/// lattice_token_request_init(). `out` has room for LATTICE_TOKEN_MAX_BYTES; the length is written to
/// `out_bytes`.
///
/// LATTICE_ERROR_NOT_FOUND: no such server left a key here. LATTICE_ERROR_PERMISSION: the file belongs to
/// another user, or others may read it. LATTICE_ERROR_IO: the file cannot be read. LATTICE_ERROR_TOKEN: it is
/// damaged. LATTICE_ERROR_ADDRESS: `server` is neither an address nor a path. LATTICE_ERROR_NOT_ALLOWED:
/// `server` is not on loopback, or the world is an authority. LATTICE_ERROR_CONFIG as lattice_token_issue().
/// LATTICE_ERROR_BUFFER_TOO_SMALL: `capacity` is below LATTICE_TOKEN_MAX_BYTES.
///
///     const char* server = "127.0.0.1:27015";
///     uint8_t token[LATTICE_TOKEN_MAX_BYTES];
///     size_t token_bytes;
///     if (lattice_dev_token(world, server, NULL, token, sizeof token, &token_bytes) == LATTICE_OK) {
///       conn = lattice_connect(world, server, token, token_bytes);
///     }
LATTICE_API lattice_result lattice_dev_token(lattice_world* world, const char* server,
                                             const lattice_token_request* request, uint8_t* out,
                                             size_t capacity, size_t* out_bytes);

/// Authority: writes the path of the file with the secret of its development issuer. The path has at most 256
/// bytes, its final zero included. A client that runs with another XDG_RUNTIME_DIR gives it to
/// lattice_dev_token(). LATTICE_ERROR_NOT_FOUND without development_tokens, and on a simulated network.
/// LATTICE_ERROR_BUFFER_TOO_SMALL when `capacity` is too small.
LATTICE_API lattice_result lattice_world_development_file(lattice_world* world, char* out, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
