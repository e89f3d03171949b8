// SPDX-License-Identifier: Apache-2.0
//
// Memory that a program points at in a system call. The kernel answers a bad pointer with EFAULT, and so must whoever
// takes its place.
//   i2c_rdwr_ioctl_data request;
//   if (!CopyIn(&request, argument, sizeof(request))) return -EFAULT;
#ifndef SIDEBAND_SIM_I2CDEV_USER_MEMORY_H_
#define SIDEBAND_SIM_I2CDEV_USER_MEMORY_H_

#include <cstddef>

namespace sideband::i2cdev {

// False where `from` or `to` is not mapped so far, or not to be written; then any part may have been copied. Where the
// system does not let a process ask (a seccomp filter), only null pointers are found.
bool CopyIn(void* to, const void* from, size_t size);
bool CopyOut(void* to, const void* from, size_t size);

}  // namespace sideband::i2cdev

#endif  // SIDEBAND_SIM_I2CDEV_USER_MEMORY_H_
