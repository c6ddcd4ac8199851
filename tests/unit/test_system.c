/* Tests which system a text of /etc/os-release is of. */
#include "base/system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *text, enum by_system wanted, const char *wanted_name)
{
    char name[64];
    assert_int_equal(by_system_of(text, name, sizeof name), wanted);
    assert_string_equal(name, wanted_name);
}

static void id_tells(void **state)
{
    (void)state;
    expect("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n", BY_DEBIAN,
           "Debian GNU/Linux 12 (bookworm)");
    expect("ID=fedora\nPRETTY_NAME='Fedora Linux 42'\n", BY_FEDORA, "Fedora Linux 42");
    expect("ID=alpine", BY_ALPINE, "");
    expect("NAME=x\nID=arch\nPRETTY_NAME=Arch\n", BY_ARCH, "Arch");
}

static void kin_tells_where_id_does_not(void **state)
{
    (void)state;
    expect("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", BY_DEBIAN, "");
    expect("ID=rocky\nID_LIKE=\"rhel centos fedora\"\n", BY_FEDORA, "");
    expect("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", BY_SUSE, "");
    /* The own name is stronger than the kin. */
    expect("ID_LIKE=debian\nID=arch\n", BY_ARCH, "");
}

static void others_stay_unknown(void **state)
{
    (void)state;
    expect("", BY_OTHER_SYSTEM, "");
    expect("ID=nixos\n", BY_OTHER_SYSTEM, "");
    expect("VARIANT_ID=debian\nXID=debian\n", BY_OTHER_SYSTEM, "");
    expect("ID=debianish\n", BY_OTHER_SYSTEM, "");
    expect("ID\nPRETTY_NAME\n", BY_OTHER_SYSTEM, "");
}

static void names_are_cut(void **state)
{
    char name[5];
    (void)state;
    assert_int_equal(by_system_of("PRETTY_NAME=Debian\nID=debian\n", name, sizeof name), BY_DEBIAN);
    assert_string_equal(name, "Debi");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(id_tells),
        cmocka_unit_test(kin_tells_where_id_does_not),
        cmocka_unit_test(others_stay_unknown),
        cmocka_unit_test(names_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
