// Version and the few macros of the library.
#pragma once

#define GNAS_VERSION_MAJOR 0
#define GNAS_VERSION_MINOR 1
#define GNAS_VERSION_PATCH 0
#define GNAS_VERSION_STRING "0.1.0"

// Functions that run on the host and on a CUDA device.
#if defined(__CUDACC__)
#define GNAS_HD __host__ __device__
#else
#define GNAS_HD
#endif

// Forces the small bodies of inner loops into their caller; results never depend on it.
#if defined(__GNUC__) || defined(__clang__)
#define GNAS_INLINE inline __attribute__((always_inline))
#else
#define GNAS_INLINE inline
#endif
