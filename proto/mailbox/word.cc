// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/word.h"

namespace sideband::mailbox {

absl::string_view StatusName(MailboxStatus status) {
  switch (status) {
    case MailboxStatus::kNull:
      return "NULL";
    case MailboxStatus::kErrRequest:
      return "ERR_REQUEST";
    case MailboxStatus::kErrOpcode:
      return "ERR_OPCODE";
    case MailboxStatus::kErrArg1:
      return "ERR_ARG1";
    case MailboxStatus::kErrArg2:
      return "ERR_ARG2";
    case MailboxStatus::kErrData:
      return "ERR_DATA";
    case MailboxStatus::kErrMisc:
      return "ERR_MISC";
    case MailboxStatus::kErrI2cAccess:
      return "ERR_I2C_ACCESS";
    case MailboxStatus::kErrNotSupported:
      return "ERR_NOT_SUPPORTED";
    case MailboxStatus::kErrNotAvailable:
      return "ERR_NOT_AVAILABLE";
    case MailboxStatus::kErrBusy:
      return "ERR_BUSY";
    case MailboxStatus::kErrAgain:
      return "ERR_AGAIN";
    case MailboxStatus::kErrSensorData:
      return "ERR_SENSOR_DATA";
    case MailboxStatus::kErrDisposition:
      return "ERR_DISPOSITION";
    case MailboxStatus::kPartialFailure:
      return "PARTIAL_FAILURE";
    case MailboxStatus::kAccepted:
      return "ACCEPTED";
    case MailboxStatus::kInactive:
      return "INACTIVE";
    case MailboxStatus::kReady:
      return "READY";
    case MailboxStatus::kSuccess:
      return "SUCCESS";
  }
  return "UNKNOWN";
}

absl::string_view OpcodeName(Opcode opcode) {
  switch (opcode) {
    case Opcode::kNull:
      return "NULL";
    case Opcode::kGetCapabilities:
      return "GET_CAPABILITIES";
    case Opcode::kGetTemp:
      return "GET_TEMP";
    case Opcode::kGetExtTemp:
      return "GET_EXT_TEMP";
    case Opcode::kGetPower:
      return "GET_POWER";
    case Opcode::kGetSysId:
      return "GET_SYS_ID";
    case Opcode::kScratchRead:
      return "SCRATCH_READ";
    case Opcode::kScratchWrite:
      return "SCRATCH_WRITE";
    case Opcode::kScratchCopy:
      return "SCRATCH_COPY";
    case Opcode::kAsyncRequest:
      return "ASYNC_REQUEST";
    case Opcode::kRegisterAccess:
      return "REGISTER_ACCESS";
    case Opcode::kGetMiscFlags:
      return "GET_MISC_FLAGS";
    case Opcode::kGetClock:
      return "GET_CLOCK_FREQ_INFO";
    case Opcode::kGetEnergy:
      return "GET_ENERGY_COUNTER";
    case Opcode::kGetSystemInfo:
      return "DYNAMIC_SYSTEM_INFORMATION";
    case Opcode::kPerformanceMonitoring:
      return "GPU_PERFORMANCE_MONITORING";
    case Opcode::kDiscover:
      return "DISCOVER";
    case Opcode::kCatalog:
      return "CATALOG";
    case Opcode::kLatch:
      return "LATCH";
    case Opcode::kRead:
      return "READ";
    case Opcode::kAck:
      return "ACK";
  }
  return "UNKNOWN";
}

uint32_t CommandWord::Encode() const {
  return uint32_t{static_cast<uint8_t>(opcode)} | uint32_t{arg1} << 8 | uint32_t{arg2} << 16 |
         uint32_t{static_cast<uint8_t>(status)} << 24 | uint32_t{reserved} << 29 | uint32_t{copy_data} << 30 |
         uint32_t{execute} << 31;
}

CommandWord CommandWord::Decode(uint32_t word) {
  return {.opcode = static_cast<Opcode>(word & 0xFF),
          .arg1 = static_cast<uint8_t>(word >> 8),
          .arg2 = static_cast<uint8_t>(word >> 16),
          .status = static_cast<MailboxStatus>(word >> 24 & 0x1F),
          .reserved = (word >> 29 & 1) != 0,
          .copy_data = (word >> 30 & 1) != 0,
          .execute = (word >> 31 & 1) != 0};
}

}  // namespace sideband::mailbox
