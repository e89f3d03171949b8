// SPDX-License-Identifier: Apache-2.0
//
// Access to memory that a program points to in a system call. The kernel answers a bad pointer with EFAULT, and so must
// its replacement.
//   i2c_rdwr_ioctl_data request;
//   if (!CopyIn(&request, argument, sizeof(request))) return -EFAULT;
#ifndef SIDEBAND_SIM_I2CDEV_USER_MEMORY_H_
#define SIDEBAND_SIM_I2CDEV_USER_MEMORY_H_

#include <cstddef>

namespace sideband::i2cdev {

// Return false if `from` or `to` is not mapped in full, or `to` is read-only; any part may have been copied then. On
// systems without process_vm_readv (a seccomp filter) only null pointers are detected.
bool CopyIn(void* to, const void* from, size_t size);
bool CopyOut(void* to, const void* from, size_t size);

}  // namespace sideband::i2cdev

#endif  // SIDEBAND_SIM_I2CDEV_USER_MEMORY_H_
