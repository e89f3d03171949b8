// SPDX-License-Identifier: Apache-2.0
//
// A bus of Linux: /dev/i2c-N (Documentation/i2c/dev-interface).
//   SystemI2cDev system;
//   I2cDevTransport transport("/dev/i2c-3", system, {});
//   SIDEBAND_ASSIGN_OR_RETURN(const smbus::TransferResult result, transport.Execute(transfer));
//
// An adapter that carries messages (I2C_FUNC_I2C) gets each transaction as it is, with I2C_RDWR. One that does not, as
// many an SMBus host controller, gets block transactions of up to 32 bytes with I2C_SMBUS and the kernel's PEC; any
// other transaction is UNIMPLEMENTED there.
#ifndef SIDEBAND_DAEMON_TRANSPORT_I2C_DEV_TRANSPORT_H_
#define SIDEBAND_DAEMON_TRANSPORT_I2C_DEV_TRANSPORT_H_

#include <string>
#include <utility>

#include "daemon/transport/i2c_dev.h"
#include "daemon/transport/smbus_shape.h"
#include "daemon/transport/transport.h"

namespace sideband::daemon {

class I2cDevTransport final : public Transport {
 public:
  // Both are the adapter's, so every program on the same bus has them, and the last to set them wins.
  struct Options {
    // How long the adapter may take for a transaction, in units of 10 ms. The longest, 260 bytes at 10 kHz, takes 235
    // ms.
    unsigned long timeout_10ms = 30;
    // How often the kernel tries again when another controller has won the bus.
    unsigned long retries = 3;
  };

  // Opens the device at the first transaction, and again after it has gone. `system` must outlive the transport.
  I2cDevTransport(std::string path, I2cDev& system, Options options)
      : path_(std::move(path)), system_(system), options_(options) {}
  ~I2cDevTransport() override;
  I2cDevTransport(const I2cDevTransport&) = delete;
  I2cDevTransport& operator=(const I2cDevTransport&) = delete;

  // Errors of the wire are outcomes (ENXIO, EREMOTEIO: address NACK; EIO: data NACK; EAGAIN: arbitration lost;
  // ETIMEDOUT; EPROTO: bad count) as far as drivers tell them apart. DATA_LOSS: the kernel found a wrong PEC.
  // UNIMPLEMENTED: the adapter cannot do it. UNAVAILABLE: everything else, in the system's words.
  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override;
  // 32 where the adapter does not carry messages, or refused a longer one.
  size_t block_bytes_max() const override { return block_bytes_max_; }

 private:
  absl::Status Open();
  absl::Status Configure();
  void Close();
  absl::Status Error(int error) const;
  absl::StatusOr<smbus::TransferResult> Failed(int error);
  absl::StatusOr<smbus::TransferResult> ExecuteMessages(const smbus::Transfer& transfer);
  absl::StatusOr<smbus::TransferResult> ExecuteSmbus(const smbus::Transfer& transfer);
  absl::StatusOr<smbus::TransferResult> Write(const BlockWrite& write);
  absl::StatusOr<smbus::TransferResult> Read(const BlockRead& read);
  absl::Status SelectAddress(uint8_t address);
  // 0, or minus an errno.
  int SmbusBlock(bool read, uint8_t code, void* data);

  const std::string path_;
  I2cDev& system_;
  const Options options_;
  int fd_ = -1;
  bool carries_messages_ = false;
  size_t block_bytes_max_ = smbus::kBlockBytesMax;
  int smbus_address_ = -1;  // what I2C_SLAVE has set; none yet
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_I2C_DEV_TRANSPORT_H_
