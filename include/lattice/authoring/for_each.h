/// @file
/// The preprocessor part of declarations. It applies a macro to every element of a list, and turns the
/// annotations of a member into values. Every name is prefixed, so that BOUNDS, BITS and the rest stay free
/// for games.
#pragma once

/// @cond internal

// The first 32 elements have a macro each, LATTICE_FE_1 to LATTICE_FE_32, which compilers expand in one go.
// For those behind them LATTICE_FE_STEP repeats itself: it handles one element and leaves a call of itself,
// and each LATTICE_FE_EXPAND scans the text again, which does that call.

/// LATTICE_FOR_EACH(m, context, a, b, ...) is m(context, a) m(context, b) ... for up to 365 elements.
#define LATTICE_FOR_EACH(m, context, ...) __VA_OPT__(LATTICE_FE_1(m, context, __VA_ARGS__))
#define LATTICE_FE_1(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_2(m, c, __VA_ARGS__))
#define LATTICE_FE_2(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_3(m, c, __VA_ARGS__))
#define LATTICE_FE_3(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_4(m, c, __VA_ARGS__))
#define LATTICE_FE_4(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_5(m, c, __VA_ARGS__))
#define LATTICE_FE_5(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_6(m, c, __VA_ARGS__))
#define LATTICE_FE_6(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_7(m, c, __VA_ARGS__))
#define LATTICE_FE_7(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_8(m, c, __VA_ARGS__))
#define LATTICE_FE_8(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_9(m, c, __VA_ARGS__))
#define LATTICE_FE_9(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_10(m, c, __VA_ARGS__))
#define LATTICE_FE_10(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_11(m, c, __VA_ARGS__))
#define LATTICE_FE_11(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_12(m, c, __VA_ARGS__))
#define LATTICE_FE_12(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_13(m, c, __VA_ARGS__))
#define LATTICE_FE_13(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_14(m, c, __VA_ARGS__))
#define LATTICE_FE_14(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_15(m, c, __VA_ARGS__))
#define LATTICE_FE_15(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_16(m, c, __VA_ARGS__))
#define LATTICE_FE_16(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_17(m, c, __VA_ARGS__))
#define LATTICE_FE_17(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_18(m, c, __VA_ARGS__))
#define LATTICE_FE_18(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_19(m, c, __VA_ARGS__))
#define LATTICE_FE_19(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_20(m, c, __VA_ARGS__))
#define LATTICE_FE_20(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_21(m, c, __VA_ARGS__))
#define LATTICE_FE_21(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_22(m, c, __VA_ARGS__))
#define LATTICE_FE_22(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_23(m, c, __VA_ARGS__))
#define LATTICE_FE_23(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_24(m, c, __VA_ARGS__))
#define LATTICE_FE_24(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_25(m, c, __VA_ARGS__))
#define LATTICE_FE_25(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_26(m, c, __VA_ARGS__))
#define LATTICE_FE_26(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_27(m, c, __VA_ARGS__))
#define LATTICE_FE_27(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_28(m, c, __VA_ARGS__))
#define LATTICE_FE_28(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_29(m, c, __VA_ARGS__))
#define LATTICE_FE_29(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_30(m, c, __VA_ARGS__))
#define LATTICE_FE_30(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_31(m, c, __VA_ARGS__))
#define LATTICE_FE_31(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_32(m, c, __VA_ARGS__))
#define LATTICE_FE_32(m, c, a, ...) m(c, a) __VA_OPT__(LATTICE_FE_EXPAND(LATTICE_FE_STEP(m, c, __VA_ARGS__)))
/// Keeps the next step from being expanded at once.
#define LATTICE_FE_PARENS ()
/// Scans its text often enough for 365 elements.
#define LATTICE_FE_EXPAND(...) LATTICE_FE_EXPAND5(LATTICE_FE_EXPAND5(LATTICE_FE_EXPAND5(__VA_ARGS__)))
#define LATTICE_FE_EXPAND5(...) LATTICE_FE_EXPAND4(LATTICE_FE_EXPAND4(LATTICE_FE_EXPAND4(__VA_ARGS__)))
#define LATTICE_FE_EXPAND4(...) LATTICE_FE_EXPAND3(LATTICE_FE_EXPAND3(LATTICE_FE_EXPAND3(__VA_ARGS__)))
#define LATTICE_FE_EXPAND3(...) LATTICE_FE_EXPAND2(LATTICE_FE_EXPAND2(LATTICE_FE_EXPAND2(__VA_ARGS__)))
#define LATTICE_FE_EXPAND2(...) LATTICE_FE_EXPAND1(LATTICE_FE_EXPAND1(LATTICE_FE_EXPAND1(__VA_ARGS__)))
#define LATTICE_FE_EXPAND1(...) __VA_ARGS__
/// Handles the first element and leaves the others to the next scan.
#define LATTICE_FE_STEP(m, context, a, ...) \
  m(context, a) __VA_OPT__(LATTICE_FE_AGAIN LATTICE_FE_PARENS(m, context, __VA_ARGS__))
/// Names LATTICE_FE_STEP again without expanding it.
#define LATTICE_FE_AGAIN() LATTICE_FE_STEP

// LATTICE_ANNOTATION_NAME is the value of the annotation NAME, which may stand behind the type of a member.
// lattice/authoring/networked.h says what each means.

#define LATTICE_ANNOTATION_BOUNDS(min, max, precision) \
  ::lattice::annotation::Bounds {                      \
    min, max, precision                                \
  }
#define LATTICE_ANNOTATION_RANGED(min, max) \
  ::lattice::annotation::Ranged {           \
    min, max                                \
  }
#define LATTICE_ANNOTATION_BITS(n) \
  ::lattice::annotation::Bits {    \
    n                              \
  }
#define LATTICE_ANNOTATION_SMALLEST_THREE(n) \
  ::lattice::annotation::SmallestThree {     \
    n                                        \
  }
#define LATTICE_ANNOTATION_STRING(capacity) \
  ::lattice::annotation::Capacity<capacity> {}
#define LATTICE_ANNOTATION_BYTES(capacity) LATTICE_ANNOTATION_STRING(capacity)
#define LATTICE_ANNOTATION_CUSTOM(capacity) LATTICE_ANNOTATION_STRING(capacity)
#define LATTICE_ANNOTATION_ARRAY(count) \
  ::lattice::annotation::Array<count> {}
#define LATTICE_ANNOTATION_LIST(capacity) \
  ::lattice::annotation::List<capacity> {}
#define LATTICE_ANNOTATION_MAP(capacity) \
  ::lattice::annotation::Map<capacity> {}
#define LATTICE_ANNOTATION_FLAG(flag) \
  ::lattice::annotation::Flag {       \
    flag                              \
  }
#define LATTICE_ANNOTATION_ENCODING(encoding) \
  ::lattice::annotation::Encoding {           \
    encoding                                  \
  }
#define LATTICE_ANNOTATION_POSITION LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_POSITION)
#define LATTICE_ANNOTATION_VELOCITY LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_VELOCITY)
#define LATTICE_ANNOTATION_ACCELERATION LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_ACCELERATION)
#define LATTICE_ANNOTATION_ROTATION LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_ROTATION)
#define LATTICE_ANNOTATION_ANGULAR_VELOCITY LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_ANGULAR_VELOCITY)
#define LATTICE_ANNOTATION_TELEPORT LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_TELEPORT)
#define LATTICE_ANNOTATION_SNAP LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_SNAP)
#define LATTICE_ANNOTATION_ANGLE LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_ANGLE)
#define LATTICE_ANNOTATION_NOT_PREDICTED LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_NOT_PREDICTED)
#define LATTICE_ANNOTATION_OWNER_ONLY LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_OWNER_ONLY)
#define LATTICE_ANNOTATION_SKIP_OWNER LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_SKIP_OWNER)
#define LATTICE_ANNOTATION_PREDICTED_ONLY LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_PREDICTED_ONLY)
#define LATTICE_ANNOTATION_INITIAL_ONLY LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_INITIAL_ONLY)
#define LATTICE_ANNOTATION_EXTRAPOLATE LATTICE_ANNOTATION_FLAG(LATTICE_MEMBER_EXTRAPOLATE)
#define LATTICE_ANNOTATION_PRIORITY(times) \
  ::lattice::annotation::Priority {        \
    times                                  \
  }
#define LATTICE_ANNOTATION_FIXED LATTICE_ANNOTATION_ENCODING(LATTICE_ENCODING_FIXED)
#define LATTICE_ANNOTATION_VARINT LATTICE_ANNOTATION_ENCODING(LATTICE_ENCODING_VARINT)
#define LATTICE_ANNOTATION_HALF LATTICE_ANNOTATION_ENCODING(LATTICE_ENCODING_HALF)
#define LATTICE_ANNOTATION_FULL LATTICE_ANNOTATION_ENCODING(LATTICE_ENCODING_FULL)

#define LATTICE_ANNOTATION_EVERYONE LATTICE_ANNOTATION_FLAG(::lattice::annotation::kEveryone)
#define LATTICE_ANNOTATION_OMIT \
  ::lattice::annotation::Omit {}

/// LATTICE_ANNOTATIONS(A, B(1)) is , LATTICE_ANNOTATION_A , LATTICE_ANNOTATION_B(1) for up to ten
/// annotations.
#define LATTICE_ANNOTATIONS(...) __VA_OPT__(LATTICE_ANNOTATIONS1(__VA_ARGS__))
#define LATTICE_ANNOTATIONS1(a, ...) , LATTICE_ANNOTATION_##a __VA_OPT__(LATTICE_ANNOTATIONS2(__VA_ARGS__))
#define LATTICE_ANNOTATIONS2(a, ...) , LATTICE_ANNOTATION_##a __VA_OPT__(LATTICE_ANNOTATIONS3(__VA_ARGS__))
#define LATTICE_ANNOTATIONS3(a, ...) , LATTICE_ANNOTATION_##a __VA_OPT__(LATTICE_ANNOTATIONS4(__VA_ARGS__))
#define LATTICE_ANNOTATIONS4(a, ...) , LATTICE_ANNOTATION_##a __VA_OPT__(LATTICE_ANNOTATIONS5(__VA_ARGS__))
#define LATTICE_ANNOTATIONS5(a, ...) , LATTICE_ANNOTATION_##a __VA_OPT__(LATTICE_ANNOTATIONS6(__VA_ARGS__))
#define LATTICE_ANNOTATIONS6(a, ...) , LATTICE_ANNOTATION_##a __VA_OPT__(LATTICE_ANNOTATIONS7(__VA_ARGS__))
#define LATTICE_ANNOTATIONS7(a, ...) , LATTICE_ANNOTATION_##a __VA_OPT__(LATTICE_ANNOTATIONS8(__VA_ARGS__))
#define LATTICE_ANNOTATIONS8(a, ...) , LATTICE_ANNOTATION_##a __VA_OPT__(LATTICE_ANNOTATIONS9(__VA_ARGS__))
#define LATTICE_ANNOTATIONS9(a, ...) , LATTICE_ANNOTATION_##a __VA_OPT__(LATTICE_ANNOTATIONS10(__VA_ARGS__))
#define LATTICE_ANNOTATIONS10(a) , LATTICE_ANNOTATION_##a
/// @endcond
