// SPDX-License-Identifier: Apache-2.0
//
// Numbers for property tests.
#ifndef SIDEBAND_PROTO_MAILBOX_ANY_NUMBER_H_
#define SIDEBAND_PROTO_MAILBOX_ANY_NUMBER_H_

#include <rapidcheck.h>

#include <cstdint>

namespace sideband::mailbox {

// All widths are as likely.
inline uint64_t AnyNumber() { return *rc::gen::arbitrary<uint64_t>() >> *rc::gen::inRange(0, 64); }

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ANY_NUMBER_H_
