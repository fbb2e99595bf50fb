/*
 * crc32.h - the checksum CRC-32 (polynomial 0xEDB88320, as in gzip and PNG).
 */
#ifndef RV_BASE_CRC32_H
#define RV_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t rv_crc32(const void *data, size_t length);

#endif
