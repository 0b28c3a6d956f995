#include <string.h>

#include "check.h"
#include "kernels.h"
#include "maximum.h"

#define SCORES 256 /* values that a score has */
#define CORNERS 4
#define MAX_CLASSES 65535 /* a result holds the class in 16 bits */

/** Of floats as numbers in their order: a comparison needs no arithmetic of floats. */
struct corners {
    int32_t top, left, bottom, right;
    float area;
};

/** A box that is kept. */
struct result {
    uint32_t box;
    uint16_t class_number;
    int8_t score;
    uint8_t reserved;
};

/** What the parameters refer to, and the parts of the working memory. */
struct detector {
    const struct kiwicha_detected_boxes *p;
    const uint8_t *encodings;
    const int8_t *scores;
    const float *anchors;
    const double *factors;
    struct corners *corners; /**< of boxes that are marked as decoded */
    uint32_t *order;         /**< boxes that count, the best first */
    uint32_t *starts;        /**< where those of each score begin there, the best first */
    uint32_t *candidates;    /**< of each class */
    struct result *results;
    uint32_t result_count;
    int8_t *best;     /**< score of each box, of one class or of the best one */
    uint8_t *decoded; /**< marks */
    uint8_t *active;  /**< marks of places in the order */
};

KIWICHA_SMALL static uint32_t scratch_bytes(const struct kiwicha_detected_boxes *p)
{
    const uint32_t per_box = sizeof(struct corners) + sizeof(uint32_t) + 3;
    const uint64_t bytes = (uint64_t)per_box * p->boxes + sizeof(uint32_t) * SCORES +
                           (uint64_t)sizeof(uint32_t) * p->classes +
                           (uint64_t)sizeof(struct result) * p->most;
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_detection(const struct kiwicha_memory *memory,
                                                          const void *params)
{
    const struct kiwicha_detected_boxes *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t outputs[] = {p->most, CORNERS + 2, sizeof(float)};
    const uint32_t output_bytes = kiwicha_saturating_product(outputs, 3);
    kiwicha_require(&check, p->box_bytes >= CORNERS && p->classes >= 1 && p->most >= 1);
    kiwicha_require(&check, p->classes <= MAX_CLASSES && p->first <= MAX_CLASSES);
    kiwicha_require(&check, p->first + p->classes <= p->columns && output_bytes != UINT32_MAX);
    kiwicha_require_range(&check, p->threshold, INT8_MIN, INT8_MAX + 1);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_multiply(p->boxes, p->box_bytes),
                           1);
    kiwicha_require_source(&check, &p->scores, kiwicha_saturating_multiply(p->boxes, p->columns),
                           1);
    kiwicha_require_source(&check, &p->anchors,
                           kiwicha_saturating_multiply(p->boxes, CORNERS * sizeof(float)),
                           sizeof(float));
    kiwicha_require_source(&check, &p->factors, CORNERS * SCORES * sizeof(double), sizeof(double));
    kiwicha_require_source(&check, &p->points, SCORES * sizeof(float), sizeof(float));
    kiwicha_require_target(&check, &p->output, output_bytes + (uint32_t)sizeof(float),
                           sizeof(float));
    kiwicha_require_scratch(&check, &p->scratch, scratch_bytes(p));
    return check.status;
}

/** Returns a number that orders floats as their values do, and the float again for that number. */
static int32_t ordered(int32_t bits)
{
    return bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1);
}

static int32_t from_float(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return ordered(bits);
}

static float to_float(int32_t number)
{
    const int32_t bits = ordered(number);
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/** Returns what lies between two corners. */
static float between(int32_t low, int32_t high)
{
    return to_float(high) - to_float(low);
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/** Returns the corners of a box, each step rounded as the interpreters round it. */
static const struct corners *corners_of(struct detector *d, uint32_t box)
{
    struct corners *found = d->corners + box;
    if (!d->decoded[box]) {
        d->decoded[box] = 1;
        const uint8_t *encoding = d->encodings + box * d->p->box_bytes;
        const float *anchor = d->anchors + CORNERS * box;
        float centre[2], half[2];
        for (uint32_t k = 0; k < 2; k++) {
            /* In steps of their own: a compiler must not fuse them. */
            const double size = anchor[2 + k];
            const double distance = d->factors[k * SCORES + encoding[k]] * size;
            const double extent = d->factors[(2 + k) * SCORES + encoding[2 + k]] * size;
            const double place = distance + anchor[k];
            centre[k] = (float)place;
            half[k] = (float)extent;
        }
        found->top = from_float(centre[0] - half[0]);
        found->left = from_float(centre[1] - half[1]);
        found->bottom = from_float(centre[0] + half[0]);
        found->right = from_float(centre[1] + half[1]);
        found->area = between(found->top, found->bottom) * between(found->left, found->right);
    }
    return found;
}

/** Whether boxes overlap by more than the parameters allow. */
static bool overlap(const struct detector *d, const struct corners *a, const struct corners *b)
{
    const int32_t top = larger(a->top, b->top), bottom = smaller(a->bottom, b->bottom);
    const int32_t left = larger(a->left, b->left), right = smaller(a->right, b->right);
    if (bottom <= top || right <= left) {
        return false;
    }
    if (a->area <= 0 || b->area <= 0) {
        return false;
    }
    const float inner = between(top, bottom) * between(left, right);
    const float both = a->area + b->area;
    return inner / (both - inner) > d->p->overlap;
}

/** Finds the boxes whose score counts, and puts the best ones first; returns how many. */
static uint32_t sort_boxes(struct detector *d)
{
    const struct kiwicha_detected_boxes *p = d->p;
    memset(d->starts, 0, sizeof(uint32_t) * SCORES);
    for (uint32_t box = 0; box < p->boxes; box++) {
        if (d->best[box] >= p->threshold) {
            d->starts[INT8_MAX - d->best[box]]++;
        }
    }
    uint32_t total = 0;
    for (uint32_t k = 0; k < SCORES; k++) {
        const uint32_t count = d->starts[k];
        d->starts[k] = total;
        total += count;
    }
    for (uint32_t box = 0; box < p->boxes; box++) {
        if (d->best[box] >= p->threshold) {
            d->order[d->starts[INT8_MAX - d->best[box]]++] = box;
        }
    }
    return total;
}

/** Puts a box among the results, behind those with the same score, if there is room. */
static void add_result(struct detector *d, struct result added)
{
    uint32_t place = d->result_count;
    if (place == d->p->most) {
        if (added.score <= d->results[place - 1].score) {
            return;
        }
        place--;
    } else {
        d->result_count++;
    }
    for (; place > 0 && d->results[place - 1].score < added.score; place--) {
        d->results[place] = d->results[place - 1];
    }
    d->results[place] = added;
}

/** Keeps the best boxes, up to `most`, that overlap no better one too much. */
static void keep_best(struct detector *d, uint32_t most, uint32_t class_number)
{
    const uint32_t count = sort_boxes(d);
    memset(d->active, 1, count);
    for (uint32_t k = 0; k < count && most > 0; k++) {
        if (!d->active[k]) {
            continue;
        }
        const uint32_t box = d->order[k];
        add_result(d, (struct result){box, (uint16_t)class_number, d->best[box], 0});
        if (--most == 0) {
            break;
        }
        const struct corners *found = corners_of(d, box);
        for (uint32_t other = k + 1; other < count; other++) {
            if (d->active[other] && overlap(d, found, corners_of(d, d->order[other]))) {
                d->active[other] = 0;
            }
        }
    }
}

/** Scores of a box that count. */
static const int8_t *scores_of(const struct detector *d, uint32_t box)
{
    return d->scores + box * d->p->columns + d->p->first;
}

static uint32_t best_class(const struct detector *d, uint32_t box)
{
    const int8_t *scores = scores_of(d, box);
    uint32_t best = 0;
    for (uint32_t k = 1; k < d->p->classes; k++) {
        if (scores[k] > scores[best]) {
            best = k;
        }
    }
    return best;
}

/** Boxes are known by their best class, and compared with all others. */
static void detect_any(struct detector *d)
{
    for (uint32_t box = 0; box < d->p->boxes; box++) {
        d->best[box] = (int8_t)kiwicha_maximum(scores_of(d, box), d->p->classes, 0);
    }
    keep_best(d, d->p->most, 0);
    for (uint32_t k = 0; k < d->result_count; k++) {
        d->results[k].class_number = (uint16_t)best_class(d, d->results[k].box);
    }
}

/** Boxes are compared class by class. */
static void detect_classes(struct detector *d)
{
    const struct kiwicha_detected_boxes *p = d->p;
    memset(d->candidates, 0, sizeof(uint32_t) * p->classes);
    for (uint32_t box = 0; box < p->boxes; box++) {
        const int8_t *scores = scores_of(d, box);
        for (uint32_t k = 0; k < p->classes; k++) {
            d->candidates[k] += scores[k] >= p->threshold;
        }
    }
    for (uint32_t k = 0; k < p->classes; k++) {
        if (d->candidates[k] == 0) {
            continue;
        }
        for (uint32_t box = 0; box < p->boxes; box++) {
            d->best[box] = scores_of(d, box)[k];
        }
        keep_best(d, p->per_class, k);
    }
}

/** TFLite_Detection_PostProcess. */
enum kiwicha_status kiwicha_run_detection(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_detected_boxes *p = params;
    struct detector d = {
        .p = p,
        .encodings = kiwicha_source(memory, &p->input),
        .scores = kiwicha_source(memory, &p->scores),
        .anchors = kiwicha_source(memory, &p->anchors),
        .factors = kiwicha_source(memory, &p->factors),
        .corners = kiwicha_target(memory, &p->scratch),
    };
    d.order = (uint32_t *)(d.corners + p->boxes);
    d.starts = d.order + p->boxes;
    d.candidates = d.starts + SCORES;
    d.results = (struct result *)(d.candidates + p->classes);
    d.best = (int8_t *)(d.results + p->most);
    d.decoded = (uint8_t *)(d.best + p->boxes);
    d.active = d.decoded + p->boxes;
    memset(d.decoded, 0, p->boxes);
    if (p->per_class == 0) {
        detect_any(&d);
    } else {
        detect_classes(&d);
    }
    const float *points = kiwicha_source(memory, &p->points);
    float *output = kiwicha_target(memory, &p->output);
    memset(output, 0, p->output.bytes);
    for (uint32_t k = 0; k < d.result_count; k++) {
        const struct result *result = d.results + k;
        const struct corners *box = corners_of(&d, result->box);
        output[CORNERS * k] = to_float(box->top);
        output[CORNERS * k + 1] = to_float(box->left);
        output[CORNERS * k + 2] = to_float(box->bottom);
        output[CORNERS * k + 3] = to_float(box->right);
        output[CORNERS * p->most + k] = result->class_number;
        output[(CORNERS + 1) * p->most + k] = points[(uint8_t)result->score];
    }
    output[(CORNERS + 2) * p->most] = (float)d.result_count;
    return KIWICHA_STATUS_OK;
}
