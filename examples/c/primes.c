/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The primes below a limit. Cell 0 gives ranges to workers by messages. A worker sends the primes it found, which
 * asks for more; cell 0 answers with a range or with none. A list has any length: a short one comes through cell 0's
 * ring buffer, and cell 0 fetches a long one when it receives the message. The program sees no difference. At the
 * end all primes are compared with a serial sieve. Arguments: limit, numbers in a range, backend (model or rtl). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsunagi_ap1000p.h>

/* Tags of cell 0's answers; those of the workers' messages are 0. */
enum { RANGE, END };
enum { RING = 128 << 10 };

static int limit, length;
static unsigned char *found;

static void check(int code) {
    if (code < 0) {
        fprintf(stderr, "cell %d: %s\n", APcell(), APerror());
        exit(1);
    }
}

static void *memory(size_t bytes, size_t alignment) {
    void *given = APalloc_aligned(bytes, alignment);
    check(given ? AP_OK : AP_POINTER);
    return memset(given, 0, bytes);
}

static int is_prime(int number) {
    for (int divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return 0;
    return number > 1;
}

static void give(int *range, int *sent) {
    int from = 0, working = APcells() - 1, tag, lists = 0, most = 0;
    int *primes = memory(sizeof *primes * length, 32);
    double start = APtime();
    while (working > 0) {
        int worker, count = APrecv(primes, length, &worker, &tag);
        check(count);
        for (int i = 0; i < count; i++)
            found[primes[i]]++;
        most = count > most ? count : most;
        /* The range that was sent before has been read. */
        check(APwait_flag(sent, lists++));
        range[0] = from;
        range[1] = from + length < limit ? from + length : limit;
        from = range[1];
        working -= range[0] == limit;
        check(APsend(worker, range[0] == limit ? END : RANGE, range, 2, sent));
    }
    printf("%d ranges, at most %d primes in one: %.1f us\n", lists - (APcells() - 1), most, APtime() - start);
}

static void work(int *range, int *sent) {
    int *primes = memory(sizeof *primes * length, 32), count = 0, tag;
    for (int lists = 1;; lists++) {
        check(APsend(0, 0, primes, count, sent));
        check(APrecv(range, 2, NULL, &tag));
        if (tag == END)
            return;
        /* The list is written over when it is gone. */
        check(APwait_flag(sent, lists));
        count = 0;
        for (int number = range[0]; number < range[1]; number++)
            if (is_prime(number))
                primes[count++] = number;
        /* Ten divisions or so for each. */
        check(APwait(0.2 * 10 * (range[1] - range[0])));
    }
}

static void program(void *arg) {
    void *ring = memory(RING, RING);
    int *range = memory(2 * sizeof *range, 32), *sent = memory(sizeof *sent, 32);
    (void)arg;
    check(APopen_ring(ring, RING));
    /* The first cell here sends at once, and a cell that waits in APbarrier, for a communication register, serves no
     * interrupt. */
    check(APbarrier_by_snet());
    if (APcell() == 0)
        give(range, sent);
    else
        work(range, sent);
}

int main(int argc, char **argv) {
    limit = argc > 1 ? atoi(argv[1]) : 20000;
    length = argc > 2 ? atoi(argv[2]) : 500;
    if (limit < 2 || limit > 1000000 || length < 1 || length > 10000) {
        fprintf(stderr, "primes [limit, 2 to 1000000] [numbers in a range, 1 to 10000] [model or rtl]\n");
        return 1;
    }
    found = calloc(limit, 1);
    if (APbackend(argc > 3 ? argv[3] : "model") || APrun(2, 2, program, NULL)) {
        fprintf(stderr, "%s\n", APerror());
        return 1;
    }
    int wrong = 0, primes = 0;
    for (int number = 0; number < limit; number++) {
        wrong += found[number] != is_prime(number);
        primes += found[number];
    }
    printf(wrong ? "%d numbers are wrong\n" : "every number is right\n", wrong);
    printf("%d primes\n", primes);
    free(found);
    return wrong != 0;
}
