/* Loss of power for one process, preloaded into it (x86-64 Linux; no process that it starts may be measured).
 *
 * What the process writes below LAB_LOSS_ROOT goes where it always goes, so the process sees what it has written. Beside it
 * lies a second image, LAB_LOSS_SHADOW/tree, into which bytes come only when they are synced: it is what a disk would have.
 * At the LAB_LOSS_CUT_AT-th of its calls the process is killed, and the second image is the store after the loss.
 *
 * It is told of calls by a seccomp filter that raises SIGSYS at each of them, so that none is missed: neither those of
 * libraries that ask the kernel without libc nor those of static ones.
 *
 * Names (files made, renamed, removed) become durable, in their order, with the next sync of anything, as the journals of ext4
 * and XFS do it. Of what was not synced nothing survives, or, where LAB_LOSS_SURVIVES is a seed, sectors of 512 bytes drawn at random.
 * sync_file_range makes nothing durable. io_uring is refused, so that nothing goes past this. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "this knows the calls of x86-64 only"
#endif

/* The one place that calls pass the filter from. */
__attribute__((naked, noinline, noipa, aligned(64))) static long raw(long nr, long a, long b, long c, long d, long e, long f) {
    __asm__("mov %rdi, %rax\n mov %rsi, %rdi\n mov %rdx, %rsi\n mov %rcx, %rdx\n mov %r8, %r10\n mov %r9, %r8\n"
            "mov 8(%rsp), %r9\n syscall\n ret\n");
}
#define CALL(nr, ...) CALL_(nr, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(nr, a, b, c, d, e, f, ...) raw(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define RAW_BYTES 64

enum { PATH_BYTES = 512, FILES = 8192, RANGES = 1024, NAMES = 16384, MAPPINGS = 256, SECTOR = 512, FDS = 4096 };

struct range { off_t start, end; };
struct file { ino_t ino; int used; int ranges_count; off_t least; struct range *ranges; };
enum change { MADE, MADE_DIR, REMOVED, REMOVED_DIR, RENAMED };
struct name { enum change change; ino_t ino; char at[PATH_BYTES], to[PATH_BYTES]; };
struct mapping { ino_t ino; int fd; off_t start, end; uintptr_t address; };

static struct file *files;
static struct name *names;
static int names_count;
static struct mapping mappings[MAPPINGS];
static int mappings_count;
static char root[PATH_BYTES], shadow[PATH_BYTES];
static size_t root_bytes;
static dev_t device;
static uint64_t events, cut_at, survives;
static int events_fd = -1;
static volatile int lock_word;
static char copied[1 << 16];

static void lock(void) {
    while (__sync_lock_test_and_set(&lock_word, 1)) raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}
static void unlock(void) { __sync_lock_release(&lock_word); }

/* What must not happen: the harness sees the exit code and the words. */
static void give_up(const char *why) {
    CALL(SYS_write, 2, why, strlen(why));
    CALL(SYS_write, 2, "\n", 1);
    CALL(SYS_exit_group, 86);
}

static uint64_t drawn(void) {
    survives ^= survives << 13; survives ^= survives >> 7; survives ^= survives << 17;
    return survives;
}

static long in_shadow(char *path, const char *folder, const char *rest) {
    return snprintf(path, PATH_BYTES * 2, "%s/%s/%s", shadow, folder, rest);
}
static void data_path(char *path, ino_t ino) {
    char number[32];
    snprintf(number, sizeof number, "%lu", (unsigned long)ino);
    in_shadow(path, "data", number);
}

static struct file *find(ino_t ino, int make) {
    for (unsigned step = 0; step < FILES; step++) {
        struct file *file = &files[(ino * 2654435761u + step) % FILES];
        if (file->used && file->ino == ino) return file;
        if (!file->used) {
            if (!make) return NULL;
            file->used = 1;
            file->ino = ino;
            file->least = INT64_MAX;
            file->ranges = (struct range *)CALL(SYS_mmap, 0, sizeof(struct range) * RANGES, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            return file;
        }
    }
    give_up("power_loss: more files than it knows");
    return NULL;
}

static void wrote(struct file *file, off_t start, off_t end) {
    if (end <= start) return;
    if (file->ranges_count) {
        struct range *last = &file->ranges[file->ranges_count - 1];
        if (start <= last->end && end >= last->start) {
            if (start < last->start) last->start = start;
            if (end > last->end) last->end = end;
            return;
        }
    }
    if (file->ranges_count == RANGES) { /* one range around all: copying what is clean changes nothing */
        for (int at = 1; at < RANGES; at++) {
            if (file->ranges[at].start < file->ranges[0].start) file->ranges[0].start = file->ranges[at].start;
            if (file->ranges[at].end > file->ranges[0].end) file->ranges[0].end = file->ranges[at].end;
        }
        file->ranges_count = 1;
    }
    file->ranges[file->ranges_count++] = (struct range){start, end};
}

static void copy(int from, int to, off_t start, off_t end) {
    while (start < end) {
        size_t want = end - start < (off_t)sizeof copied ? (size_t)(end - start) : sizeof copied;
        long got = CALL(SYS_pread64, from, copied, want, start);
        if (got <= 0) return;
        if (CALL(SYS_pwrite64, to, copied, got, start) != got) give_up("power_loss: the second image cannot be written");
        start += got;
    }
}

static int data_file(ino_t ino) {
    char path[PATH_BYTES * 2];
    data_path(path, ino);
    int fd = (int)CALL(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) give_up("power_loss: the second image cannot be opened");
    return fd;
}

static int reopened(int fd) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return (int)CALL(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/* The file's bytes are durable now. */
static void sync_file(struct file *file, int fd) {
    struct stat is;
    int from = reopened(fd), to = data_file(file->ino);
    if (from < 0 || CALL(SYS_fstat, from, &is) < 0) give_up("power_loss: a file cannot be read");
    for (int at = 0; at < mappings_count; at++)
        if (mappings[at].ino == file->ino) wrote(file, mappings[at].start, mappings[at].end);
    if (file->least < is.st_size) CALL(SYS_ftruncate, to, file->least);
    CALL(SYS_ftruncate, to, is.st_size);
    for (int at = 0; at < file->ranges_count; at++) {
        off_t end = file->ranges[at].end < is.st_size ? file->ranges[at].end : is.st_size;
        copy(from, to, file->ranges[at].start, end);
    }
    file->ranges_count = 0;
    file->least = INT64_MAX;
    CALL(SYS_close, from);
    CALL(SYS_close, to);
}

static void apply(const struct name *name) {
    char at[PATH_BYTES * 2], to[PATH_BYTES * 2], data[PATH_BYTES * 2];
    in_shadow(at, "tree", name->at);
    switch (name->change) {
    case MADE:
        data_path(data, name->ino);
        CALL(SYS_close, data_file(name->ino));
        CALL(SYS_unlink, at);
        CALL(SYS_link, data, at);
        break;
    case MADE_DIR: CALL(SYS_mkdir, at, 0755); break;
    case REMOVED: CALL(SYS_unlink, at); break;
    case REMOVED_DIR: CALL(SYS_rmdir, at); break;
    case RENAMED:
        in_shadow(to, "tree", name->to);
        CALL(SYS_rename, at, to);
        break;
    }
}

static void sync_names(int count) {
    for (int at = 0; at < count; at++) apply(&names[at]);
    memmove(names, names + count, sizeof *names * (names_count - count));
    names_count -= count;
}

/* All that is open. */
static void each_open(void (*act)(struct file *, int)) {
    struct stat is;
    for (int fd = 0; fd < FDS; fd++) {
        if (CALL(SYS_fstat, fd, &is) < 0 || !S_ISREG(is.st_mode) || is.st_dev != device) continue;
        struct file *file = find(is.st_ino, 0);
        if (file) act(file, fd);
    }
}

/* Sectors of what was not synced that happened to get to the disk. */
static void survive(struct file *file, int fd) {
    struct stat is;
    if (!file->ranges_count) return;
    int from = reopened(fd), to = data_file(file->ino);
    if (from >= 0 && CALL(SYS_fstat, from, &is) == 0) {
        struct stat durable;
        CALL(SYS_fstat, to, &durable);
        int grown = is.st_size > durable.st_size && drawn() % 2;
        if (grown) CALL(SYS_ftruncate, to, is.st_size);
        off_t size = grown ? is.st_size : durable.st_size;
        for (int at = 0; at < file->ranges_count; at++) {
            off_t start = file->ranges[at].start / SECTOR * SECTOR, last = file->ranges[at].end;
            for (; start < last && start < size; start += SECTOR)
                if (drawn() % 2) copy(from, to, start, start + SECTOR < size ? start + SECTOR : size);
        }
    }
    file->ranges_count = 0; /* it may be open twice */
}

static void event(void) {
    events++;
    if (events_fd >= 0) CALL(SYS_pwrite64, events_fd, &events, sizeof events, 0);
    if (events != cut_at) return;
    if (survives) {
        sync_names(names_count ? (int)(drawn() % (names_count + 1)) : 0);
        each_open(survive);
    }
    CALL(SYS_kill, CALL(SYS_getpid, 0), SIGKILL);
    for (;;) raw(SYS_pause, 0, 0, 0, 0, 0, 0);
}

/* The path below the root, or NULL. */
static const char *below(int dir, const char *path, char *whole) {
    if (!path) return NULL;
    if (path[0] != '/') {
        char link[64];
        if (dir == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
        long bytes = CALL(SYS_readlinkat, AT_FDCWD, link, whole, PATH_BYTES - 2);
        if (bytes < 0) return NULL;
        whole[bytes] = '/';
        snprintf(whole + bytes + 1, PATH_BYTES - bytes - 1, "%s", path);
    } else {
        snprintf(whole, PATH_BYTES, "%s", path);
    }
    if (strncmp(whole, root, root_bytes) || whole[root_bytes] != '/') return NULL;
    return whole + root_bytes + 1;
}

static void renamed(enum change change, ino_t ino, const char *at, const char *to) {
    if (names_count == NAMES) give_up("power_loss: more names than it knows");
    struct name *name = &names[names_count++];
    name->change = change;
    name->ino = ino;
    snprintf(name->at, PATH_BYTES, "%s", at);
    snprintf(name->to, PATH_BYTES, "%s", to ? to : "");
}

/* A file that was not there before: another one may have had its number. */
static void made(ino_t ino, const char *at) {
    char data[PATH_BYTES * 2];
    data_path(data, ino);
    CALL(SYS_unlink, data);
    CALL(SYS_close, data_file(ino));
    struct file *file = find(ino, 1);
    file->ranges_count = 0;
    file->least = INT64_MAX;
    renamed(MADE, ino, at, NULL);
}

static long opened(int dir, const char *path, int flags, mode_t mode) {
    char whole[PATH_BYTES];
    struct stat is;
    const char *rest = flags & (O_CREAT | O_TRUNC) ? below(dir, path, whole) : NULL;
    if (!rest) return CALL(SYS_openat, dir, path, flags, mode);
    event();
    int there = CALL(SYS_newfstatat, dir, path, &is, 0) == 0;
    long fd = CALL(SYS_openat, dir, path, flags, mode);
    if (fd < 0) return fd;
    CALL(SYS_fstat, fd, &is);
    if (!there && S_ISREG(is.st_mode)) made(is.st_ino, rest);
    struct file *file = find(is.st_ino, 0);
    if (there && file && flags & O_TRUNC) file->least = 0;
    return fd;
}

/* The file of a descriptor that is watched; NULL for all others. */
static struct file *watched(int fd) {
    struct stat is;
    if (CALL(SYS_fstat, fd, &is) < 0 || !S_ISREG(is.st_mode) || is.st_dev != device) return NULL;
    return find(is.st_ino, 0);
}

/* A write that has happened at the descriptor's own place, or at one that was given. */
static void after_write(struct file *file, int fd, off_t at, long done, int synced) {
    if (done <= 0) return;
    if (at < 0) at = CALL(SYS_lseek, fd, 0, SEEK_CUR) - done;
    wrote(file, at, at + done);
    if (synced || CALL(SYS_fcntl, fd, F_GETFL) & O_DSYNC) {
        sync_file(file, fd);
        sync_names(names_count);
    }
}

static int is_watched_dir(int fd) {
    char whole[PATH_BYTES];
    struct stat is;
    return CALL(SYS_fstat, fd, &is) == 0 && S_ISDIR(is.st_mode) && is.st_dev == device && below(fd, ".", whole) != NULL;
}

static long synced(int fd, long nr) {
    struct file *file = watched(fd);
    if (!file && !is_watched_dir(fd)) return CALL(nr, fd);
    event();
    if (file) sync_file(file, fd);
    sync_names(names_count);
    return 0;
}

static long changed_name(long nr, int dir, const char *path, int to_dir, const char *to, unsigned flags) {
    char whole[PATH_BYTES], whole_to[PATH_BYTES];
    const char *at = below(dir, path, whole), *target = to ? below(to_dir, to, whole_to) : NULL;
    if (at || target) event();
    struct stat is;
    long done;
    switch (nr) {
    case SYS_mkdirat:
        done = CALL(SYS_mkdirat, dir, path, flags);
        if (done == 0 && at) renamed(MADE_DIR, 0, at, NULL);
        return done;
    case SYS_unlinkat:
        done = CALL(SYS_unlinkat, dir, path, flags);
        if (done == 0 && at) renamed(flags & AT_REMOVEDIR ? REMOVED_DIR : REMOVED, 0, at, NULL);
        return done;
    case SYS_linkat:
        done = CALL(SYS_linkat, dir, path, to_dir, to, flags);
        if (done == 0 && target && CALL(SYS_newfstatat, to_dir, to, &is, 0) == 0) renamed(MADE, is.st_ino, target, NULL);
        return done;
    default:
        done = CALL(SYS_renameat2, dir, path, to_dir, to, flags);
        if (done == 0 && at && target) renamed(RENAMED, 0, at, target);
        else if (done == 0 && (at || target)) give_up("power_loss: a rename into or out of the store");
        return done;
    }
}

static void mapped(int fd, off_t offset, size_t bytes, long address) {
    struct file *file = watched(fd);
    if (!file || mappings_count == MAPPINGS || address < 0) return;
    mappings[mappings_count++] = (struct mapping){file->ino, reopened(fd), offset, offset + (off_t)bytes, (uintptr_t)address};
}

static void synced_mapping(uintptr_t address) {
    for (int at = 0; at < mappings_count; at++) {
        struct mapping *of = &mappings[at];
        if (address < of->address || address >= of->address + (uintptr_t)(of->end - of->start)) continue;
        struct file *file = find(of->ino, 0);
        if (file) sync_file(file, of->fd);
        sync_names(names_count);
    }
}

static long done_here(long nr, long a, long b, long c, long d, long e, long f) {
    struct file *file;
    long done;
    switch (nr) {
    case SYS_open: return opened(AT_FDCWD, (const char *)a, (int)b, (mode_t)c);
    case SYS_creat: return opened(AT_FDCWD, (const char *)a, O_CREAT | O_WRONLY | O_TRUNC, (mode_t)b);
    case SYS_openat: return opened((int)a, (const char *)b, (int)c, (mode_t)d);
    case SYS_openat2: case SYS_io_uring_setup: return -ENOSYS;
    case SYS_write: case SYS_writev: case SYS_pwrite64: case SYS_pwritev: case SYS_pwritev2:
        if (!(file = watched((int)a))) return CALL(nr, a, b, c, d, e, f);
        event();
        done = CALL(nr, a, b, c, d, e, f);
        after_write(file, (int)a, nr == SYS_write || nr == SYS_writev ? -1 : d, done,
                    nr == SYS_pwritev2 && f & (RWF_DSYNC | RWF_SYNC));
        return done;
    case SYS_ftruncate:
        if (!(file = watched((int)a))) return CALL(nr, a, b);
        event();
        done = CALL(nr, a, b);
        if (done == 0 && b < file->least) file->least = b;
        return done;
    case SYS_fallocate:
        if (!(file = watched((int)a))) return CALL(nr, a, b, c, d);
        event();
        done = CALL(nr, a, b, c, d);
        if (done == 0 && b & ~1L) wrote(file, c, c + d); /* holes and zeros */
        return done;
    case SYS_copy_file_range:
        if (!(file = watched((int)c))) return CALL(nr, a, b, c, d, e, f);
        event();
        done = CALL(nr, a, b, c, d, e, f);
        after_write(file, (int)c, d ? *(off_t *)d - done : -1, done, 0);
        return done;
    case SYS_sendfile:
        if (!(file = watched((int)a))) return CALL(nr, a, b, c, d);
        event();
        done = CALL(nr, a, b, c, d);
        after_write(file, (int)a, -1, done, 0);
        return done;
    case SYS_fsync: case SYS_fdatasync: return synced((int)a, nr);
    case SYS_sync: case SYS_syncfs:
        event();
        each_open(sync_file);
        sync_names(names_count);
        return 0;
    case SYS_msync:
        if (c & MS_SYNC) { event(); synced_mapping((uintptr_t)a); }
        return CALL(nr, a, b, c);
    case SYS_mmap:
        done = CALL(nr, a, b, c, d, e, f);
        if (c & PROT_WRITE && (int)e >= 0) mapped((int)e, f, (size_t)b, done);
        return done;
    case SYS_mkdir: return changed_name(SYS_mkdirat, AT_FDCWD, (char *)a, 0, NULL, (unsigned)b);
    case SYS_mkdirat: return changed_name(nr, (int)a, (char *)b, 0, NULL, (unsigned)c);
    case SYS_rmdir: return changed_name(SYS_unlinkat, AT_FDCWD, (char *)a, 0, NULL, AT_REMOVEDIR);
    case SYS_unlink: return changed_name(SYS_unlinkat, AT_FDCWD, (char *)a, 0, NULL, 0);
    case SYS_unlinkat: return changed_name(nr, (int)a, (char *)b, 0, NULL, (unsigned)c);
    case SYS_rename: return changed_name(SYS_renameat2, AT_FDCWD, (char *)a, AT_FDCWD, (char *)b, 0);
    case SYS_renameat: return changed_name(SYS_renameat2, (int)a, (char *)b, (int)c, (char *)d, 0);
    case SYS_renameat2: return changed_name(nr, (int)a, (char *)b, (int)c, (char *)d, (unsigned)e);
    case SYS_link: return changed_name(SYS_linkat, AT_FDCWD, (char *)a, AT_FDCWD, (char *)b, 0);
    case SYS_linkat: return changed_name(nr, (int)a, (char *)b, (int)c, (char *)d, (unsigned)e);
    }
    return -ENOSYS;
}

static void handler(int signal, siginfo_t *info, void *context) {
    (void)signal;
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    long nr = info->si_syscall, fd = regs[REG_RDI];
    int saved = errno;
    /* What may wait for others, as a pipe, waits without the lock. */
    struct stat is;
    if ((nr == SYS_write || nr == SYS_writev) && (CALL(SYS_fstat, fd, &is) < 0 || !S_ISREG(is.st_mode))) {
        regs[REG_RAX] = CALL(nr, fd, regs[REG_RSI], regs[REG_RDX]);
    } else {
        lock();
        regs[REG_RAX] = done_here(nr, fd, regs[REG_RSI], regs[REG_RDX], regs[REG_R10], regs[REG_R8], regs[REG_R9]);
        unlock();
    }
    errno = saved;
}

/* What is there already is durable. */
static void walk(const char *rest) {
    char here[PATH_BYTES * 2], path[PATH_BYTES], at[PATH_BYTES * 2];
    snprintf(here, sizeof here, "%s%s%s", root, *rest ? "/" : "", rest);
    DIR *dir = opendir(here);
    if (!dir) give_up("power_loss: the store's directory cannot be read");
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        struct stat is;
        if (snprintf(path, sizeof path, "%s%s%s", rest, *rest ? "/" : "", entry->d_name) >= PATH_BYTES) give_up("power_loss: a long path");
        snprintf(here, sizeof here, "%s/%s", root, path);
        in_shadow(at, "tree", path);
        if (lstat(here, &is) < 0) continue;
        if (S_ISDIR(is.st_mode)) {
            mkdir(at, 0755);
            walk(path);
        } else if (S_ISREG(is.st_mode)) {
            char data[PATH_BYTES * 2];
            int from = open(here, O_RDONLY | O_CLOEXEC), to = data_file(is.st_ino);
            if (from < 0 || ftruncate(to, is.st_size) < 0) give_up("power_loss: the store cannot be copied");
            for (off_t next = 0, end; (next = lseek(from, next, SEEK_DATA)) >= 0; next = end) {
                end = lseek(from, next, SEEK_HOLE);
                copy(from, to, next, end);
            }
            close(from);
            close(to);
            data_path(data, is.st_ino);
            if (link(data, at) < 0) give_up("power_loss: the second image cannot be made");
            find(is.st_ino, 1);
        }
    }
    closedir(dir);
}

static uint64_t number(const char *name) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *root_given = getenv("LAB_LOSS_ROOT"), *shadow_given = getenv("LAB_LOSS_SHADOW"), *counted = getenv("LAB_LOSS_EVENTS");
    struct stat is;
    if (!root_given || !shadow_given) return;
    snprintf(root, sizeof root, "%s", root_given);
    snprintf(shadow, sizeof shadow, "%s", shadow_given);
    root_bytes = strlen(root);
    cut_at = number("LAB_LOSS_CUT_AT");
    survives = number("LAB_LOSS_SURVIVES");
    files = mmap(NULL, sizeof *files * FILES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    names = mmap(NULL, sizeof *names * NAMES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (files == MAP_FAILED || names == MAP_FAILED || stat(root, &is) < 0) give_up("power_loss: cannot begin");
    device = is.st_dev;
    if (counted) events_fd = open(counted, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    walk("");

    struct sigaction action = {0};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGSYS, &action, NULL);

    static const int seen[] = {
        SYS_open, SYS_creat, SYS_openat, SYS_openat2, SYS_io_uring_setup, SYS_write, SYS_writev, SYS_pwrite64, SYS_pwritev,
        SYS_pwritev2, SYS_ftruncate, SYS_fallocate, SYS_copy_file_range, SYS_sendfile, SYS_fsync, SYS_fdatasync, SYS_sync,
        SYS_syncfs, SYS_msync, SYS_mkdir, SYS_mkdirat, SYS_rmdir, SYS_unlink, SYS_unlinkat, SYS_rename, SYS_renameat,
        SYS_renameat2, SYS_link, SYS_linkat,
    };
    enum { COUNT = sizeof seen / sizeof *seen };
    uint64_t from = (uint64_t)(uintptr_t)raw;
    struct sock_filter filter[COUNT + 20];
    int n = 0;
#define PUT(...) filter[n++] = (struct sock_filter)__VA_ARGS__
    PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4));
    PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(from >> 32), 0, 4));
    PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)));
    PUT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)from, 0, 2));
    PUT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)from + RAW_BYTES, 1, 0));
    PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (int at = 0; at < COUNT; at++) PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)seen[at], COUNT - at + 3, 0));
    /* Of mappings only those that are shared. */
    PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 2));
    PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])));
    PUT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 1, 0));
    PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
    struct sock_fprog program = {(unsigned short)n, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        give_up("power_loss: the kernel takes no seccomp filter here");
}
