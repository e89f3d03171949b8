// SPDX-License-Identifier: Apache-2.0
//
// Makes the token that reads secrets. The target's visibility is the list of those who may; a use anywhere else does
// not build, and each use is found by searching for this name.
#ifndef SIDEBAND_PROTO_ENVELOPE_SECRET_ACCESS_H_
#define SIDEBAND_PROTO_ENVELOPE_SECRET_ACCESS_H_

#include "proto/envelope/secret.h"

namespace sideband::envelope {

class SecretAccess {
 public:
  static SecretAccessToken Get() { return {}; }
};

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_SECRET_ACCESS_H_
