#include "nas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kernel {
    const char *name;
    nas_kernel run;
    double tolerance;
    int absolute; /* whether the tolerance is */
    struct nas_result classes[3]; /* S, W, A */
} KERNELS[] = {
    {"ep", ep, 1e-8, 0,
     {{3, {-3.247834652034740e3, -6.958407078382297e3, 13176389}},
      {3, {-2.863319731645753e3, -6.320053679109499e3, 26354769}},
      {3, {-4.295875165629892e3, -1.580732573678431e4, 210832767}}}},
    {"cg", cg, 1e-10, 1, {{1, {8.5971775078648}}, {1, {10.362595087124}}, {1, {17.130235054029}}}},
    {"ft", ft, 1e-12, 0,
     {{12, {554.6087004964, 484.5363331978, 554.6385409189, 486.5304269511, 554.6148406171, 488.3910722336,
            554.5423607415, 490.1273169046, 554.4255039624, 491.7475857993, 554.2683411902, 493.2597244941}},
      {12, {567.3612178944, 529.3246849175, 563.1436885271, 528.2149986629, 559.4024089970, 527.0996558037,
            556.0698047020, 526.0027904925, 553.0898991250, 524.9400845633, 550.4159734538, 523.9212247086}},
      {12, {504.6735008193, 511.4047905510, 505.9412319734, 509.8809666433, 506.9376896287, 509.8144042213,
            507.7892868474, 510.1336130759, 508.5233095391, 510.4914655194, 509.1487099959, 510.7917842803}}}},
    {"mg", mg, 1e-8, 0,
     {{1, {0.5307707005734e-4}}, {1, {0.6467329375339e-5}}, {1, {0.2433365309069e-5}}}},
};

static const struct kernel *find(const char *name) {
    for (unsigned i = 0; i < sizeof KERNELS / sizeof *KERNELS; i++)
        if (!strcmp(KERNELS[i].name, name)) return &KERNELS[i];
    return NULL;
}

nas_kernel nas_find(const char *name) {
    const struct kernel *kernel = find(name);
    return kernel ? kernel->run : NULL;
}

const char *nas_refuses(const char *name, char class, int nodes) {
    if (!find(name)) return "the kernels are ep, cg, ft, mg";
    if (!memchr("SWA", class, 3)) return "the classes are S, W, A";
    if (nodes < 1 || nodes > 128 || nodes & (nodes - 1)) return "the nodes are a power of two, 128 at most";
    if (!strcmp(name, "ft") && nodes > (class == 'S' ? 64 : class == 'W' ? 32 : 128))
        return "FT has no more nodes than planes";
    return NULL;
}

int nas_verify(const char *name, char class, const struct nas_result *result) {
    const struct kernel *kernel = find(name);
    const struct nas_result *published = &kernel->classes[class == 'S' ? 0 : class == 'W' ? 1 : 2];
    int wrong = result->count != published->count;
    for (int i = 0; i < result->count; i++) {
        double right = published->value[i], error = fabs(result->value[i] - right);
        if (!kernel->absolute) error /= fabs(right);
        printf("%s %c: %.14g, published %.14g, error %.1e\n", name, class, result->value[i], right, error);
        wrong |= !(error <= kernel->tolerance);
    }
    printf("%s %c: %s\n", name, class, wrong ? "WRONG" : "verified");
    return wrong;
}

void *nas_memory(uint64_t count, uint64_t size) {
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "no memory for %.0f B\n", (double)count * (double)size);
        exit(1);
    }
    return memory;
}

#define MODULUS ((uint64_t)1 << 46) /* it divides 2^64, so products may overflow */

uint64_t nas_power(uint64_t multiplier, uint64_t n) {
    uint64_t power = 1;
    for (; n; n >>= 1, multiplier *= multiplier)
        if (n & 1) power *= multiplier;
    return power % MODULUS;
}

double nas_random(uint64_t *seed, uint64_t multiplier) {
    *seed = *seed * multiplier % MODULUS;
    return (double)*seed / (double)MODULUS;
}
