// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>

#include <cerrno>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"
#include "sim/i2cdev/bus_files.h"
#include "sim/i2cdev/folder_listing.h"
#include "sim/i2cdev/virtual_adapter.h"

namespace sideband::i2cdev {
namespace {

int UseBusFiles(int fd, unsigned long request, unsigned long argument) {
  //@ sim/i2cdev/bus_files.h
  return -1;
}

void UseFolderListing(DIR* dir, const dirent* entry) {
  //@ sim/i2cdev/folder_listing.h
}

absl::StatusOr<smbus::TransferResult> CarryOut(const smbus::Transfer& transfer);

void UseVirtualAdapter(unsigned long argument) {
  //@ sim/i2cdev/virtual_adapter.h
}

}  // namespace
}  // namespace sideband::i2cdev
