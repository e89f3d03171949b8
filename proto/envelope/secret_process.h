// SPDX-License-Identifier: Apache-2.0
//
// Settings of a process that holds keys.
//   ProtectSecrets();   // at the start of main, before the first further thread and the first Secret
#ifndef SIDEBAND_PROTO_ENVELOPE_SECRET_PROCESS_H_
#define SIDEBAND_PROTO_ENVELOPE_SECRET_PROCESS_H_

namespace sideband::envelope {

// Disables core dumps, and creates OpenSSL's secure heap for keys: locked memory. Where the system refuses it, keys are
// in the ordinary heap.
void ProtectSecrets();

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_SECRET_PROCESS_H_
