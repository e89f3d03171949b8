// SPDX-License-Identifier: Apache-2.0
#include "sim/i2cdev/smbus_protocol.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proto/smbus/pec.h"

namespace sideband::i2cdev {
namespace {

using smbus::Message;

bool HasPec(const SmbusRequest& request) {
  // As in the kernel's emulation: quick commands and I2C blocks never carry a PEC.
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
  // As in the kernel's adapters, an impossible count is an error of the protocol.
  if (is_block && (received[0] == 0 || received[0] > I2C_SMBUS_BLOCK_MAX)) return EPROTO;
  const size_t size = AnswerBytes(request, received, data);
  if (received.size() != size + (HasPec(request) ? 1 : 0)) return EIO;
  if (HasPec(request) && !PecIsRight(request, received)) return EBADMSG;
  Store(request, ByteSpan(received).first(size), data);
  return 0;
}

}  // namespace sideband::i2cdev
