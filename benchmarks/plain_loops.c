/* The plain loops of ucb and private_ucb in bare_loops.py, in C: the same draws and arithmetic.

   A generator is NumPy's PCG64 (O'Neill's pcg64, XSL-RR): four words, the lower half of its state
   first, as in stream_states.py. Arrays are as in bare_loops.py. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef unsigned __int128 u128;
typedef struct { u128 state, increment; } pcg64;

static pcg64 generator(const uint64_t *words) {
    pcg64 rng = {(u128)words[1] << 64 | words[0], (u128)words[3] << 64 | words[2]};
    return rng;
}

static double uniform(pcg64 *rng) {
    const u128 factor = (u128)2549297995355413924ULL << 64 | 4865540595714422341ULL;
    rng->state = rng->state * factor + rng->increment;
    uint64_t word = (uint64_t)(rng->state >> 64) ^ (uint64_t)rng->state;
    unsigned turn = (unsigned)(rng->state >> 122);
    word = word >> turn | word << (-turn & 63);
    return (double)(word >> 11) / 9007199254740992.0;
}

static double laplace(pcg64 *rng, double scale) {
    double u = uniform(rng);
    if (u >= 0.5) return -scale * log(2.0 - u - u);
    return u > 0.0 ? scale * log(u + u) : laplace(rng, scale);
}

void ucb(const double *means, const double *gaps, int64_t arms, int64_t horizon,
         const int64_t *rounds, const uint64_t *rewards, const uint64_t *noise, double *curve) {
    pcg64 rng = generator(rewards);
    double *pulls = calloc(arms, sizeof *pulls), *sums = calloc(arms, sizeof *sums);
    double regret = 0.0;
    (void)noise;
    for (int64_t t = 0, k = 0; t < horizon; t++) {
        int64_t best = t;
        if (t >= arms) {
            double log_t = log((double)(t + 1)), largest = -INFINITY;
            for (int64_t arm = 0; arm < arms; arm++) {
                double index = sums[arm] / pulls[arm] + sqrt(2.0 * log_t / pulls[arm]);
                if (index > largest) { best = arm; largest = index; }
            }
        }
        sums[best] += uniform(&rng) < means[best] ? 1.0 : 0.0;
        pulls[best] += 1.0;
        regret += gaps[best];
        if (t + 1 == rounds[k]) curve[k++] = regret;
    }
    free(pulls);
    free(sums);
}

void private_ucb(const double *means, const double *gaps, int64_t arms, int64_t horizon,
                 const int64_t *rounds, const uint64_t *rewards, const uint64_t *noise,
                 double *curve) {
    pcg64 rng = generator(rewards), own = generator(noise);
    int64_t levels = 0;
    while (horizon >> levels > 0) levels++;
    double scale = (double)(levels * arms), log_horizon = log((double)horizon);
    double gamma = arms * log_horizon * log_horizon * log(arms * horizon * log_horizon / 0.1);
    double *nodes = calloc(arms * levels, sizeof *nodes);
    double *released = calloc(arms * levels, sizeof *released);
    double *fixed = calloc(arms, sizeof *fixed), *width = calloc(arms, sizeof *width);
    int64_t *pulls = calloc(arms, sizeof *pulls);
    double regret = 0.0;
    for (int64_t t = 0, k = 0; t < horizon; t++) {
        int64_t best = t;
        if (t >= arms) {
            double root = sqrt(log((double)(t + 1))), largest = -INFINITY;
            for (int64_t arm = 0; arm < arms; arm++) {
                double index = fixed[arm] + width[arm] * root;
                if (index > largest) { best = arm; largest = index; }
            }
        }
        double node = 0.0, item = uniform(&rng) < means[best] ? 1.0 : 0.0;
        double *of_nodes = nodes + best * levels, *sums = released + best * levels;
        int64_t c = ++pulls[best], i = 0;
        for (; (c >> i & 1) == 0; i++) node += of_nodes[i];
        node += item;
        of_nodes[i] = node;
        double total = sums[i] + (node + laplace(&own, scale));
        for (int64_t j = 0; j <= i; j++) sums[j] = total;
        fixed[best] = (total + gamma) / (double)c;
        width[best] = sqrt(2.0 / (double)c);
        regret += gaps[best];
        if (t + 1 == rounds[k]) curve[k++] = regret;
    }
    free(nodes);
    free(released);
    free(fixed);
    free(width);
    free(pulls);
}
