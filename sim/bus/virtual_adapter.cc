// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/virtual_adapter.h"

#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>
#include <vector>

#include "proto/smbus/transfer.h"

namespace sideband::i2cdev {
namespace {

using smbus::Message;
using smbus::Outcome;
using smbus::Transfer;
using smbus::TransferResult;

bool HasPec(const SmbusRequest& request) {
  // Like the kernel's emulation, quick commands and I2C blocks never carry a PEC.
  return request.pec && request.size != I2C_SMBUS_QUICK && request.size != I2C_SMBUS_I2C_BLOCK_DATA;
}

int CheckSize(const SmbusRequest& request, const i2c_smbus_data& data) {
  switch (request.size) {
    case I2C_SMBUS_QUICK:
    case I2C_SMBUS_BYTE:
    case I2C_SMBUS_BYTE_DATA:
    case I2C_SMBUS_WORD_DATA:
      return 0;
    case I2C_SMBUS_BLOCK_DATA:
      // The count of a read block comes from the target.
      return !request.read && data.block[0] > I2C_SMBUS_BLOCK_MAX ? EINVAL : 0;
    case I2C_SMBUS_I2C_BLOCK_DATA:
      return data.block[0] > I2C_SMBUS_BLOCK_MAX ? EINVAL : 0;
    // I2C_FUNCS does not offer these.
    case I2C_SMBUS_PROC_CALL:
    case I2C_SMBUS_BLOCK_PROC_CALL:
      return EOPNOTSUPP;
    default:
      return EINVAL;
  }
}

// The bytes of a write after its address; none for a quick command.
Bytes WrittenBytes(const SmbusRequest& request, const i2c_smbus_data& data) {
  ByteWriter out;
  if (request.size != I2C_SMBUS_QUICK) out.U8(request.command);
  if (request.size == I2C_SMBUS_BYTE_DATA) out.U8(data.byte);
  if (request.size == I2C_SMBUS_WORD_DATA) out.U16(data.word);
  if (request.size == I2C_SMBUS_BLOCK_DATA) out.Raw({data.block, size_t{1} + data.block[0]});
  if (request.size == I2C_SMBUS_I2C_BLOCK_DATA) out.Raw({data.block + 1, data.block[0]});
  return std::move(out).Take();
}

Message ReadMessage(const SmbusRequest& request, const i2c_smbus_data& data) {
  const uint16_t pec_bytes = HasPec(request) ? 1 : 0;
  switch (request.size) {
    case I2C_SMBUS_QUICK:
      return Message::Read(request.address, 0);
    case I2C_SMBUS_WORD_DATA:
      return Message::Read(request.address, 2 + pec_bytes);
    case I2C_SMBUS_BLOCK_DATA:
      return Message::ReadBlock(request.address, pec_bytes);
    case I2C_SMBUS_I2C_BLOCK_DATA:
      return Message::Read(request.address, data.block[0]);
    default:
      return Message::Read(request.address, 1 + pec_bytes);
  }
}

// A read writes the command code first, except quick and byte commands, which have none.
bool WritesCommandFirst(const SmbusRequest& request) {
  return request.size != I2C_SMBUS_QUICK && request.size != I2C_SMBUS_BYTE;
}

bool PecIsRight(const SmbusRequest& request, const Bytes& received) {
  const uint8_t written[] = {smbus::AddressByte(request.address, /*read=*/false), request.command};
  const uint8_t address_byte = smbus::AddressByte(request.address, /*read=*/true);
  uint8_t pec = WritesCommandFirst(request) ? smbus::Pec(written) : 0;
  pec = smbus::Pec({&address_byte, 1}, pec);
  return smbus::Pec(received, pec) == 0;  // over the data and its PEC, the checksum of a valid answer is 0
}

// The length of a valid answer without its PEC.
size_t AnswerBytes(const SmbusRequest& request, const Bytes& received, const i2c_smbus_data& data) {
  switch (request.size) {
    case I2C_SMBUS_QUICK:
      return 0;
    case I2C_SMBUS_WORD_DATA:
      return 2;
    case I2C_SMBUS_BLOCK_DATA:
      return size_t{1} + received[0];
    case I2C_SMBUS_I2C_BLOCK_DATA:
      return data.block[0];
    default:
      return 1;
  }
}

void Store(const SmbusRequest& request, ByteSpan answer, i2c_smbus_data& data) {
  ByteReader in(answer);
  if (request.size == I2C_SMBUS_WORD_DATA) {
    data.word = in.U16();
  } else if (request.size == I2C_SMBUS_BLOCK_DATA) {
    std::copy(answer.begin(), answer.end(), data.block);
  } else if (request.size == I2C_SMBUS_I2C_BLOCK_DATA) {
    std::copy(answer.begin(), answer.end(), data.block + 1);
  } else if (request.size != I2C_SMBUS_QUICK) {
    data.byte = in.U8();
  }
}

}  // namespace

bool SmbusRequest::TakesData() const { return size != I2C_SMBUS_QUICK && !(size == I2C_SMBUS_BYTE && !read); }

size_t SmbusRequest::DataBytes() const {
  switch (size) {
    case I2C_SMBUS_BYTE:
    case I2C_SMBUS_BYTE_DATA:
      return sizeof(i2c_smbus_data::byte);
    case I2C_SMBUS_WORD_DATA:
      return sizeof(i2c_smbus_data::word);
    default:
      return sizeof(i2c_smbus_data::block);
  }
}

int ToTransfer(const SmbusRequest& request, const i2c_smbus_data& data, smbus::Transfer& transfer) {
  if (const int error = CheckSize(request, data); error != 0) return error;
  if (request.read) {
    if (WritesCommandFirst(request)) transfer.messages.push_back(Message::Write(request.address, {request.command}));
    transfer.messages.push_back(ReadMessage(request, data));
    return 0;
  }
  Bytes bytes = WrittenBytes(request, data);
  if (HasPec(request)) {
    const uint8_t address_byte = smbus::AddressByte(request.address, /*read=*/false);
    bytes.push_back(smbus::Pec(bytes, smbus::Pec({&address_byte, 1})));
  }
  transfer.messages.push_back(Message::Write(request.address, std::move(bytes)));
  return 0;
}

int FromAnswer(const SmbusRequest& request, const Bytes& received, i2c_smbus_data& data) {
  const bool is_block = request.size == I2C_SMBUS_BLOCK_DATA;
  if (is_block && received.empty()) return EIO;
  // An impossible count is an error of the protocol, as in the kernel's adapters.
  if (is_block && (received[0] == 0 || received[0] > I2C_SMBUS_BLOCK_MAX)) return EPROTO;
  const size_t size = AnswerBytes(request, received, data);
  if (received.size() != size + (HasPec(request) ? 1 : 0)) return EIO;
  if (HasPec(request) && !PecIsRight(request, received)) return EBADMSG;
  Store(request, ByteSpan(received).first(size), data);
  return 0;
}

namespace {

using Move = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

// Lets the kernel copy, as it would for a driver: it checks every page.
bool Copy(Move move, void* ours, void* theirs, size_t size, void* to, const void* from) {
  if (size == 0) return true;
  if (to == nullptr || from == nullptr) return false;
  const iovec local = {.iov_base = ours, .iov_len = size};
  const iovec remote = {.iov_base = theirs, .iov_len = size};
  const ssize_t moved = move(getpid(), &local, 1, &remote, 1, 0);
  if (moved >= 0) return static_cast<size_t>(moved) == size;
  if (errno == EFAULT) return false;
  // The system call is not available; copies without a check.
  std::memcpy(to, from, size);
  return true;
}

}  // namespace

bool CopyIn(void* to, const void* from, size_t size) {
  return Copy(process_vm_readv, to, const_cast<void*>(from), size, to, from);
}

bool CopyOut(void* to, const void* from, size_t size) {
  return Copy(process_vm_writev, const_cast<void*>(from), to, size, to, from);
}

namespace {

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
  // Only lost arbitration is retried, as in the kernel.
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
