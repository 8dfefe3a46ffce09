/** The tools of the timeline, as it asks for them after its first picture. */

export { attach } from "./tools/bench";
export { Order } from "./tools/cones";
