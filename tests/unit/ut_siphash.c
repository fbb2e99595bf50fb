/* SipHash-2-4, by the values of its authors. */
#include "base/siphash.h"
#include "support/cmocka.h"

static void the_values_of_its_authors(void **state)
{
    (void)state;
    static const uint64_t expected[] = {0x726fdb47dd0e0e31u, 0x74f839c593dc67fdu, 0x0d6c8009d9a94f5au,
                                        0x85676696d7fb7e2du, 0xcf2794e0277187b7u, 0x18765564cd99a68du,
                                        0xcbc9466e58fee3ceu, 0xab0200f58b01d137u, 0x93f5f5799a932462u};
    const rv_siphash_key key = {{0x0706050403020100u, 0x0f0e0d0c0b0a0908u}};
    unsigned char data[16];
    for (unsigned char i = 0; i < sizeof(data); i++) data[i] = i;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_true(rv_siphash(&key, data, i) == expected[i]);
    assert_true(rv_siphash(&key, data, 15) == 0xa129ca6149be45e5u);
    assert_true(rv_siphash(&key, NULL, 0) == expected[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_values_of_its_authors)};
    return cmocka_run_group_tests_name("ut_siphash", tests, NULL, NULL);
}
