/** Of Math what is called everywhere, by short names: hundreds of calls add up in what every view carries. */

export const { abs, ceil, floor, max, min, round } = Math;
