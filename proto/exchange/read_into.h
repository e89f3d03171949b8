// SPDX-License-Identifier: Apache-2.0
//
// Reads a field of fixed size.
//   ReadInto(in, request.nonce);
#ifndef SIDEBAND_PROTO_EXCHANGE_READ_INTO_H_
#define SIDEBAND_PROTO_EXCHANGE_READ_INTO_H_

#include <algorithm>

#include "proto/base/bytes.h"

namespace sideband::exchange {

// Past the end, the array keeps what it has, and `in` is no longer ok().
template <typename Array>
void ReadInto(ByteReader& in, Array& array) {
  std::ranges::copy(in.Raw(array.size()), array.begin());
}

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_READ_INTO_H_
