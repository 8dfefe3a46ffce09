/** The call path with the votes of all ranks, as anywidget takes it. */

import { widget } from "./base/render";
import type { Model } from "./base/model";
import type { State } from "./figure/figure";
import { RankMap } from "./rank_map/rank_map";
import type { Values } from "./rank_map/vote";

export { agreement } from "./rank_map/vote";
export default widget<Model<State<Values>>>((model, el, signal) => new RankMap(model, el, signal));
