// SPDX-License-Identifier: Apache-2.0
//
// Marks what libsideband.so exports; everything else in it is hidden. For the library's own headers.
#ifndef SIDEBAND_EXPORT_H_
#define SIDEBAND_EXPORT_H_

#define SIDEBAND_EXPORT __attribute__((visibility("default")))

#endif  // SIDEBAND_EXPORT_H_
