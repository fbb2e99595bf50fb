#include "symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* A file, mapped. Offsets of it are not trusted. */
typedef struct image {
    const unsigned char *data;
    uint64_t size;
} image;

static const void *part(const image *file, uint64_t at, uint64_t count, uint64_t each)
{
    return at <= file->size && (count == 0 || each <= (file->size - at) / count) ? file->data + at : NULL;
}

/* Entries may lie anywhere: they are copied. */
static bool read_at(const image *file, uint64_t at, void *ret, size_t size)
{
    const void *from = part(file, at, 1, size);

    if (from != NULL) memcpy(ret, from, size);
    return from != NULL;
}

static bool read_header(const image *file, Elf64_Ehdr *ret)
{
    const uint16_t one = 1;
    unsigned char order = *(const unsigned char *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;

    return read_at(file, 0, ret, sizeof(*ret)) && memcmp(ret->e_ident, ELFMAG, SELFMAG) == 0 &&
           ret->e_ident[EI_CLASS] == ELFCLASS64 && ret->e_ident[EI_DATA] == order;
}

/* ---- segments -------------------------------------------------------------------------------------------------- */

static void read_build_id(const image *file, uint64_t at, uint64_t size, char ret[HOST_BUILD_ID_TEXT])
{
    Elf64_Nhdr note;

    for (uint64_t end = at + size; end > at && end - at > sizeof(note);) {
        if (!read_at(file, at, &note, sizeof(note))) return;
        uint64_t name = at + sizeof(note), id = name + (note.n_namesz + 3) / 4 * 4;
        const unsigned char *bytes = part(file, id, note.n_descsz, 1);

        if (bytes == NULL) return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(file->data + name, "GNU", 4) == 0) {
            for (uint64_t i = 0; i < note.n_descsz && 2 * i + 2 < HOST_BUILD_ID_TEXT; i++)
                (void)snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
            return;
        }
        at = id + (note.n_descsz + 3) / 4 * 4;
    }
}

/* The address at which this offset of the file is linked. */
static bool find_address(const image *file, const Elf64_Ehdr *header, uint64_t offset, uint64_t *ret,
                         char ret_build_id[HOST_BUILD_ID_TEXT])
{
    bool found = false;

    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;

        if (!read_at(file, header->e_phoff + (uint64_t)i * sizeof(segment), &segment, sizeof(segment))) return false;
        if (segment.p_type == PT_NOTE && ret_build_id[0] == '\0')
            read_build_id(file, segment.p_offset, segment.p_filesz, ret_build_id);
        if (segment.p_type != PT_LOAD || offset < segment.p_offset) continue;
        if (offset - segment.p_offset >= segment.p_filesz) continue;
        *ret = segment.p_vaddr + (offset - segment.p_offset);
        found = true;
    }
    return found;
}

/* ---- symbols --------------------------------------------------------------------------------------------------- */

static void take_name(const image *file, const Elf64_Shdr *strings, uint32_t at, host_symbol *ret)
{
    const char *text = at < strings->sh_size ? part(file, strings->sh_offset + at, strings->sh_size - at, 1) : NULL;

    if (text == NULL || memchr(text, '\0', strings->sh_size - at) == NULL) return;
    rv_copy_text(ret->name, sizeof(ret->name), text);
}

/* The function that covers the address, if the table has it. */
static void look_in(const image *file, const Elf64_Shdr *table, const Elf64_Shdr *strings, uint64_t address,
                    host_symbol *ret)
{
    for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym) && ret->name[0] == '\0'; i++) {
        Elf64_Sym symbol;

        if (!read_at(file, table->sh_offset + i * sizeof(symbol), &symbol, sizeof(symbol))) return;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        if (address < symbol.st_value || address - symbol.st_value >= symbol.st_size) continue;
        take_name(file, strings, symbol.st_name, ret);
        ret->offset = address - symbol.st_value;
    }
}

/* The table of all symbols, or that of the exported ones where the file is stripped. */
static void find_symbol(const image *file, const Elf64_Ehdr *header, uint64_t address, host_symbol *ret)
{
    for (unsigned i = 0; i < header->e_shnum && ret->name[0] == '\0'; i++) {
        Elf64_Shdr table, strings;

        if (!read_at(file, header->e_shoff + (uint64_t)i * sizeof(table), &table, sizeof(table))) return;
        if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
        if (!read_at(file, header->e_shoff + (uint64_t)table.sh_link * sizeof(strings), &strings, sizeof(strings)))
            continue;
        look_in(file, &table, &strings, address, ret);
    }
}

static bool find_in(const image *file, uint64_t offset, host_symbol *ret)
{
    Elf64_Ehdr header;
    uint64_t address = 0;

    if (!read_header(file, &header)) return false;
    if (find_address(file, &header, offset, &address, ret->build_id)) find_symbol(file, &header, address, ret);
    return true;
}

bool host_symbols_find(const char *path, uint64_t file_offset, host_symbol *ret)
{
    struct stat about;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    *ret = (host_symbol){0};
    if (fd < 0) return false;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
        void *mapped = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

        if (mapped != MAP_FAILED) {
            found = find_in(&(image){.data = mapped, .size = (uint64_t)about.st_size}, file_offset, ret);
            (void)munmap(mapped, (size_t)about.st_size);
        }
    }
    close(fd);
    return found;
}
