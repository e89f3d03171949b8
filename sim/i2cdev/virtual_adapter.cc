// SPDX-License-Identifier: Apache-2.0
#include "sim/i2cdev/virtual_adapter.h"

#include <linux/i2c-dev.h>
#include <linux/i2c.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <vector>

#include "sim/i2cdev/smbus_protocol.h"
#include "sim/i2cdev/user_memory.h"

namespace sideband::i2cdev {
namespace {

using smbus::Message;
using smbus::Outcome;
using smbus::Transfer;
using smbus::TransferResult;

constexpr unsigned long kAddressMax = 0x7F;
constexpr unsigned long kSmbusFunctionality = I2C_FUNC_SMBUS_QUICK | I2C_FUNC_SMBUS_BYTE | I2C_FUNC_SMBUS_BYTE_DATA |
                                              I2C_FUNC_SMBUS_WORD_DATA | I2C_FUNC_SMBUS_BLOCK_DATA |
                                              I2C_FUNC_SMBUS_I2C_BLOCK | I2C_FUNC_SMBUS_PEC;
// The kernel limits retries by the time-out. This bus has no clock, so their number is limited.
constexpr unsigned long kRetriesMax = 100;

int OutcomeErrno(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return 0;
    case Outcome::kAddressNack:
      return ENXIO;
    case Outcome::kDataNack:
      return EIO;
    case Outcome::kArbitrationLost:
      return EAGAIN;
    case Outcome::kTimeout:
      return ETIMEDOUT;
    case Outcome::kBadCount:
      return EPROTO;
  }
  return EIO;
}

int BusErrno(const absl::Status& status) {
  if (absl::IsDeadlineExceeded(status)) return ETIMEDOUT;
  return absl::IsUnavailable(status) ? ENODEV : EIO;
}

// A valid result has exactly the bytes that each read message requested.
bool Fits(const Transfer& transfer, const TransferResult& result) {
  size_t next = 0;
  for (const Message& message : transfer.messages) {
    if (!message.read) continue;
    if (next == result.read.size()) return false;
    const Bytes& received = result.read[next++];
    size_t size = message.read_size;
    if (message.block) size += received.empty() ? 1 : size_t{1} + received[0];
    if (received.size() != size) return false;
  }
  return next == result.read.size();
}

// A read whose first byte is its length. As in the kernel, buf[0] is the number of bytes in addition to the counted
// ones, including the count itself, and the buffer must hold the longest block.
int AddCountedRead(const i2c_msg& message, Transfer& transfer) {
  uint8_t besides = 0;
  if (message.len < 1) return EINVAL;
  if (!CopyIn(&besides, message.buf, 1)) return EFAULT;
  if (besides < 1 || message.len < besides + I2C_SMBUS_BLOCK_MAX) return EINVAL;
  transfer.messages.push_back(Message::ReadBlock(static_cast<uint8_t>(message.addr), besides - 1));
  return 0;
}

int AddMessage(const i2c_msg& message, Transfer& transfer) {
  if (message.len > smbus::kMessageBytesMax || message.addr > kAddressMax) return EINVAL;
  const bool read = (message.flags & I2C_M_RD) != 0, counted = (message.flags & I2C_M_RECV_LEN) != 0;
  if ((message.flags & ~(I2C_M_RD | I2C_M_RECV_LEN)) != 0) return EOPNOTSUPP;
  if (counted) return read ? AddCountedRead(message, transfer) : EINVAL;
  const auto address = static_cast<uint8_t>(message.addr);
  if (read) {
    transfer.messages.push_back(Message::Read(address, message.len));
    return 0;
  }
  Bytes bytes(message.len);
  if (!CopyIn(bytes.data(), message.buf, bytes.size())) return EFAULT;
  transfer.messages.push_back(Message::Write(address, std::move(bytes)));
  return 0;
}

int CopyReads(const std::vector<i2c_msg>& messages, const TransferResult& result) {
  auto received = result.read.begin();
  for (const i2c_msg& message : messages) {
    if ((message.flags & I2C_M_RD) == 0) continue;
    if ((message.flags & I2C_M_RECV_LEN) != 0 && received->front() > I2C_SMBUS_BLOCK_MAX) return EPROTO;
    if (!CopyOut(message.buf, received->data(), received->size())) return EFAULT;
    ++received;
  }
  return 0;
}

}  // namespace

bool VirtualAdapter::Knows(unsigned long request) {
  switch (request) {
    case I2C_SLAVE:
    case I2C_SLAVE_FORCE:
    case I2C_TENBIT:
    case I2C_PEC:
    case I2C_FUNCS:
    case I2C_RETRIES:
    case I2C_TIMEOUT:
    case I2C_RDWR:
    case I2C_SMBUS:
      return true;
    default:
      return false;
  }
}

int VirtualAdapter::Ioctl(unsigned long request, unsigned long argument, const Carry& carry) {
  // An ioctl's argument is a number or a pointer, by its request.
  void* const pointer = reinterpret_cast<void*>(argument);  // NOLINT(performance-no-int-to-ptr)
  const unsigned long functionality = Functionality();
  switch (request) {
    case I2C_SLAVE:
    case I2C_SLAVE_FORCE:
      return SetAddress(argument);
    case I2C_TENBIT:
      // I2C_FUNCS does not offer addresses of ten bits.
      return argument == 0 ? 0 : -EINVAL;
    case I2C_PEC:
      pec_ = argument != 0;
      return 0;
    case I2C_FUNCS:
      return CopyOut(pointer, &functionality, sizeof(functionality)) ? 0 : -EFAULT;
    case I2C_RETRIES:
      if (argument > INT_MAX) return -EINVAL;
      retries_ = argument;
      return 0;
    case I2C_TIMEOUT:
      if (argument > INT_MAX) return -EINVAL;
      timeout_10ms_ = argument;
      return 0;
    case I2C_RDWR:
      return ReadWrite(pointer, carry);
    case I2C_SMBUS:
      return Smbus(pointer, carry);
    default:
      return -ENOTTY;
  }
}

unsigned long VirtualAdapter::Functionality() const {
  return options_.smbus_only ? kSmbusFunctionality : kSmbusFunctionality | I2C_FUNC_I2C;
}

int VirtualAdapter::SetAddress(unsigned long address) {
  // No driver owns an address of a virtual bus: I2C_SLAVE never fails with EBUSY.
  if (address > kAddressMax) return -EINVAL;
  address_ = static_cast<uint8_t>(address);
  return 0;
}

int VirtualAdapter::ExecuteOnce(const Transfer& transfer, const Carry& carry, TransferResult& result) const {
  auto carried = carry(transfer);
  if (!carried.ok()) return -BusErrno(carried.status());
  // A target that holds the clock too long causes a time-out, regardless of its answer.
  if (carried->stretch_us > timeout_10ms_ * 10'000) return -ETIMEDOUT;
  if (carried->outcome != Outcome::kOk) return -OutcomeErrno(carried->outcome);
  if (!Fits(transfer, *carried)) return -EIO;
  result = *std::move(carried);
  return 0;
}

int VirtualAdapter::Execute(const Transfer& transfer, const Carry& carry, TransferResult& result) const {
  // As in the kernel, nothing but lost arbitration is retried.
  int error = ExecuteOnce(transfer, carry, result);
  for (unsigned long retry = 0; error == -EAGAIN && retry < std::min(retries_, kRetriesMax); ++retry) {
    error = ExecuteOnce(transfer, carry, result);
  }
  return error;
}

int VirtualAdapter::ReadWrite(const void* argument, const Carry& carry) {
  i2c_rdwr_ioctl_data request;
  if (!CopyIn(&request, argument, sizeof(request))) return -EFAULT;
  if (request.msgs == nullptr || request.nmsgs == 0 || request.nmsgs > smbus::kMessagesMax) return -EINVAL;
  std::vector<i2c_msg> messages(request.nmsgs);
  if (!CopyIn(messages.data(), request.msgs, messages.size() * sizeof(i2c_msg))) return -EFAULT;
  Transfer transfer;
  for (const i2c_msg& message : messages) {
    if (const int error = AddMessage(message, transfer); error != 0) return -error;
  }
  // Checked after the messages, as in the kernel.
  if (options_.smbus_only) return -EOPNOTSUPP;
  TransferResult result;
  if (const int error = Execute(transfer, carry, result); error != 0) return error;
  if (const int error = CopyReads(messages, result); error != 0) return -error;
  return static_cast<int>(messages.size());
}

int VirtualAdapter::Smbus(const void* argument, const Carry& carry) {
  i2c_smbus_ioctl_data call;
  if (!CopyIn(&call, argument, sizeof(call))) return -EFAULT;
  if (call.read_write != I2C_SMBUS_READ && call.read_write != I2C_SMBUS_WRITE) return -EINVAL;
  SmbusRequest request = {.address = address_,
                          .read = call.read_write == I2C_SMBUS_READ,
                          .command = call.command,
                          .size = call.size,
                          .pec = pec_};
  i2c_smbus_data data{};
  if (request.TakesData()) {
    if (call.data == nullptr) return -EINVAL;
    if (!CopyIn(&data, call.data, request.DataBytes())) return -EFAULT;
  }
  if (request.size == I2C_SMBUS_I2C_BLOCK_BROKEN) {
    // The old form, in which libi2c still writes. A read had no length in it.
    request.size = I2C_SMBUS_I2C_BLOCK_DATA;
    if (request.read) data.block[0] = I2C_SMBUS_BLOCK_MAX;
  }
  Transfer transfer;
  if (const int error = ToTransfer(request, data, transfer); error != 0) return -error;
  TransferResult result;
  if (const int error = Execute(transfer, carry, result); error != 0) return error;
  if (!request.read) return 0;
  if (const int error = FromAnswer(request, result.read.back(), data); error != 0) return -error;
  if (request.TakesData() && !CopyOut(call.data, &data, request.DataBytes())) return -EFAULT;
  return 0;
}

ssize_t VirtualAdapter::Read(void* buffer, size_t size, const Carry& carry) {
  if (options_.smbus_only) return -EOPNOTSUPP;
  // The kernel shortens longer reads to the same length.
  size = std::min(size, smbus::kMessageBytesMax);
  TransferResult result;
  const Transfer transfer = {{Message::Read(address_, static_cast<uint16_t>(size))}};
  if (const int error = Execute(transfer, carry, result); error != 0) return error;
  return CopyOut(buffer, result.read.front().data(), size) ? static_cast<ssize_t>(size) : -EFAULT;
}

ssize_t VirtualAdapter::Write(const void* buffer, size_t size, const Carry& carry) {
  Bytes bytes(std::min(size, smbus::kMessageBytesMax));
  if (!CopyIn(bytes.data(), buffer, bytes.size())) return -EFAULT;
  // After the copy, as in the kernel: a bad address of the caller is reported first.
  if (options_.smbus_only) return -EOPNOTSUPP;
  TransferResult result;
  const ssize_t written = static_cast<ssize_t>(bytes.size());
  const int error = Execute({{Message::Write(address_, std::move(bytes))}}, carry, result);
  return error != 0 ? error : written;
}

}  // namespace sideband::i2cdev
