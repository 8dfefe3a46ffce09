/** Requests and tokens under a ruler, with the cut, as anywidget takes it. */

import { widget } from "./base/render";
import type { Model } from "./base/model";
import type { State } from "./figure/figure";
import type { Values } from "./cut_ruler/cut";
import { CutRuler } from "./cut_ruler/cut_ruler";

export { partsOf } from "./cut_ruler/cut";
export default widget<Model<State<Values>>>((model, el, signal) => new CutRuler(model, el, signal));
