// SPDX-License-Identifier: Apache-2.0
//
// Creates the token that grants access to secrets. The target's visibility lists the permitted users: other uses do not
// build. A search for this name finds every use.
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
