// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/bus_transport.h"

#include <fcntl.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::daemon {
namespace {

using smbus::Message;
using smbus::Outcome;
using smbus::Transfer;
using smbus::TransferResult;

constexpr unsigned long kSmbusBlocksWithPec = I2C_FUNC_SMBUS_BLOCK_DATA | I2C_FUNC_SMBUS_PEC;

// Maps a driver's errno to an outcome on the wire; nullopt for other errors.
std::optional<Outcome> WireOutcome(int error) {
  switch (error) {
    case ENXIO:
    case EREMOTEIO:
      return Outcome::kAddressNack;
    case EIO:
      return Outcome::kDataNack;
    case EAGAIN:
      return Outcome::kArbitrationLost;
    case ETIMEDOUT:
      return Outcome::kTimeout;
    case EPROTO:
      return Outcome::kBadCount;
    default:
      return std::nullopt;
  }
}

bool DeviceIsGone(int error) { return error == ENODEV || error == EBADF || error == ESHUTDOWN; }

// A transfer in the kernel's format: messages that point into buffers. A block read of unknown length clocks the
// maximum; bytes beyond the device's block are dropped.
class KernelMessages {
 public:
  explicit KernelMessages(const Transfer& transfer) : transfer_(transfer) {
    for (const Message& message : transfer.messages) {
      buffers_.push_back(message.write_bytes);
      if (message.read) buffers_.back().resize(message.read_size + (message.block ? 1 + smbus::kBlockBytesMax : 0));
    }
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Message& message = transfer.messages[i];
      messages_.push_back({.addr = message.address,
                           .flags = static_cast<uint16_t>(message.read ? I2C_M_RD : 0),
                           .len = static_cast<uint16_t>(buffers_[i].size()),
                           .buf = buffers_[i].data()});
    }
  }

  i2c_rdwr_ioctl_data ForIoctl() {
    return {.msgs = messages_.data(), .nmsgs = static_cast<uint32_t>(messages_.size())};
  }

  size_t LongestRead() const {
    size_t longest = 0;
    for (const i2c_msg& message : messages_) {
      if ((message.flags & I2C_M_RD) != 0) longest = std::max<size_t>(longest, message.len);
    }
    return longest;
  }

  TransferResult Result() && {
    TransferResult result;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Message& message = transfer_.messages[i];
      if (!message.read) continue;
      Bytes& read = result.read.emplace_back(std::move(buffers_[i]));
      // Any count up to 255 fits the buffer; only 0 is invalid.
      if (message.block && read[0] == 0) return {.outcome = Outcome::kBadCount};
      if (message.block) read.resize(size_t{1} + read[0] + message.read_size);
    }
    return result;
  }

 private:
  const Transfer& transfer_;
  std::vector<Bytes> buffers_;
  std::vector<i2c_msg> messages_;
};

}  // namespace

absl::Status UnixBusTransport::Connect() {
  if (socket_.is_open()) return absl::OkStatus();
  const int socket = smbus::ConnectToBus(path_);
  if (socket < 0) return smbus::BusError(path_, -socket);
  socket_ = Descriptor(socket);
  return absl::OkStatus();
}

absl::StatusOr<smbus::TransferResult> UnixBusTransport::Execute(const smbus::Transfer& transfer) {
  SIDEBAND_RETURN_IF_ERROR(Connect());
  auto result = smbus::ExchangeOnBus(socket_.get(), path_, transfer, options_.timeout);
  if (!result.ok()) socket_ = Descriptor();  // bytes still on their way are of no transaction
  return result;
}

int SystemI2cDev::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int SystemI2cDev::Ioctl(int fd, unsigned long request, unsigned long argument) {
  const int result = ioctl(fd, request, argument);
  return result < 0 ? -errno : result;
}

void SystemI2cDev::Close(int fd) { close(fd); }

I2cDevTransport::~I2cDevTransport() { Close(); }

void I2cDevTransport::Close() {
  if (fd_ >= 0) system_.Close(fd_);
  fd_ = -1;
}

absl::Status I2cDevTransport::Error(int error) const {
  const std::string what = absl::StrCat("bus ", path_, ": ", strerror(error));
  if (error == EBADMSG) return absl::DataLossError(absl::StrCat("bus ", path_, ": wrong PEC"));
  if (error == EOPNOTSUPP) return absl::UnimplementedError(absl::StrCat(what, " by the adapter"));
  return absl::UnavailableError(what);
}

absl::Status I2cDevTransport::Open() {
  if (fd_ >= 0) return absl::OkStatus();
  const int fd = system_.Open(path_);
  if (fd < 0) return Error(-fd);
  fd_ = fd;
  // A device that cannot be configured is closed, so that the next transaction tries again from the beginning.
  const absl::Status status = Configure();
  if (!status.ok()) Close();
  return status;
}

absl::Status I2cDevTransport::Configure() {
  unsigned long functionality = 0;
  const int error = system_.Ioctl(fd_, I2C_FUNCS, reinterpret_cast<unsigned long>(&functionality));
  // A file that is not an I2C device has no I2C_FUNCS.
  if (error == -ENOTTY) return absl::UnavailableError(absl::StrCat("bus ", path_, ": is not an I2C bus"));
  if (error < 0) return Error(-error);
  carries_messages_ = (functionality & I2C_FUNC_I2C) != 0;
  if (!carries_messages_ && (functionality & kSmbusBlocksWithPec) != kSmbusBlocksWithPec) {
    return absl::UnimplementedError(
        absl::StrFormat("bus %s: the adapter has neither I2C messages nor SMBus blocks with PEC (functionality 0x%x)",
                        path_, functionality));
  }
  block_bytes_max_ = carries_messages_ ? smbus::kBlockBytesMax : kSmbus2BlockBytesMax;
  // The address selected on an earlier descriptor does not apply to this one.
  smbus_address_ = -1;
  // Errors are ignored: an adapter that does not support these options keeps its defaults.
  system_.Ioctl(fd_, I2C_TIMEOUT, options_.timeout_10ms);
  system_.Ioctl(fd_, I2C_RETRIES, options_.retries);
  if (!carries_messages_ && system_.Ioctl(fd_, I2C_PEC, 1) < 0) {
    return absl::UnimplementedError(absl::StrCat("bus ", path_, ": the adapter cannot be set to check the PEC"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TransferResult> I2cDevTransport::Failed(int error) {
  // Wire errors are results: the caller decides on retries.
  if (const auto outcome = WireOutcome(error)) return TransferResult{.outcome = *outcome};
  if (DeviceIsGone(error)) Close();
  return Error(error);
}

absl::StatusOr<TransferResult> I2cDevTransport::Execute(const Transfer& transfer) {
  SIDEBAND_RETURN_IF_ERROR(Open());
  return carries_messages_ ? ExecuteMessages(transfer) : ExecuteSmbus(transfer);
}

absl::StatusOr<TransferResult> I2cDevTransport::ExecuteMessages(const Transfer& transfer) {
  // I2C_RDWR does not check whether a kernel driver owns the address; I2C_SLAVE does (EBUSY).
  for (const Message& message : transfer.messages) SIDEBAND_RETURN_IF_ERROR(SelectAddress(message.address));
  KernelMessages messages(transfer);
  i2c_rdwr_ioctl_data request = messages.ForIoctl();
  const int done = system_.Ioctl(fd_, I2C_RDWR, reinterpret_cast<unsigned long>(&request));
  if (done >= 0 && static_cast<uint32_t>(done) == request.nmsgs) return std::move(messages).Result();
  // Some adapters report their length limit only by refusing a longer message.
  // A block of 32 bytes is read as 34, with its count and PEC; 35 is the first length that may be too long.
  const size_t smallest_too_long = kSmbus2BlockBytesMax + 3;
  if (done == -EOPNOTSUPP && messages.LongestRead() >= smallest_too_long) block_bytes_max_ = kSmbus2BlockBytesMax;
  // Fewer messages than requested without an errno: a data NACK.
  return Failed(done < 0 ? -done : EIO);
}

absl::StatusOr<TransferResult> I2cDevTransport::ExecuteSmbus(const Transfer& transfer) {
  if (const auto write = AsBlockWrite(transfer)) return Write(*write);
  if (const auto read = AsBlockRead(transfer)) return Read(*read);
  return absl::UnimplementedError(
      absl::StrCat("bus ", path_, ": the adapter carries only SMBus blocks of up to ", kSmbus2BlockBytesMax, " bytes"));
}

absl::Status I2cDevTransport::SelectAddress(uint8_t address) {
  if (smbus_address_ == address) return absl::OkStatus();
  const int error = system_.Ioctl(fd_, I2C_SLAVE, address);
  if (error == -EBUSY) {
    return absl::UnavailableError(
        absl::StrFormat("bus %s: address 0x%02x belongs to a driver of the kernel", path_, address));
  }
  if (error < 0) {
    if (DeviceIsGone(-error)) Close();
    return Error(-error);
  }
  smbus_address_ = address;
  return absl::OkStatus();
}

int I2cDevTransport::SmbusBlock(bool read, uint8_t code, void* data) {
  i2c_smbus_ioctl_data call = {.read_write = static_cast<uint8_t>(read ? I2C_SMBUS_READ : I2C_SMBUS_WRITE),
                               .command = code,
                               .size = I2C_SMBUS_BLOCK_DATA,
                               .data = static_cast<i2c_smbus_data*>(data)};
  return system_.Ioctl(fd_, I2C_SMBUS, reinterpret_cast<unsigned long>(&call));
}

absl::StatusOr<TransferResult> I2cDevTransport::Write(const BlockWrite& write) {
  SIDEBAND_RETURN_IF_ERROR(SelectAddress(write.address));
  i2c_smbus_data data = {};
  data.block[0] = static_cast<uint8_t>(write.block.size());
  std::copy(write.block.begin(), write.block.end(), data.block + 1);
  const int error = SmbusBlock(/*read=*/false, write.code, &data);
  return error < 0 ? Failed(-error) : TransferResult();
}

absl::StatusOr<TransferResult> I2cDevTransport::Read(const BlockRead& read) {
  SIDEBAND_RETURN_IF_ERROR(SelectAddress(read.address));
  i2c_smbus_data data = {};
  // The block may contain a confidential VM's counters.
  const absl::Cleanup wipe = [&data] { explicit_bzero(&data, sizeof(data)); };
  const int error = SmbusBlock(/*read=*/true, read.code, &data);
  if (error < 0) return Failed(-error);
  if (data.block[0] == 0 || data.block[0] > kSmbus2BlockBytesMax) return TransferResult{.outcome = Outcome::kBadCount};
  // The kernel has checked the PEC and removed it. Callers expect the raw bytes, so the PEC is computed again.
  return TransferResult{.read = {AsClocked(read, {data.block + 1, data.block[0]})}};
}

}  // namespace sideband::daemon
