// SPDX-License-Identifier: Apache-2.0
//
// What an asynchronous request ends with: its final status, and the dwords that go to scratch memory.
//   const AsyncResult fans = {mailbox::AsyncStatus::kSuccess, {0}};
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_ASYNC_RESULT_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_ASYNC_RESULT_H_

#include <cstdint>
#include <vector>

#include "proto/mailbox/async_request.h"

namespace sideband::mcu {

struct AsyncResult {
  mailbox::AsyncStatus status = mailbox::AsyncStatus::kSuccess;
  std::vector<uint32_t> dwords = {};  // none of a request that failed
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_ASYNC_RESULT_H_
