/** Two recordings compared, as anywidget takes it. */

import { widget } from "./base/render";
import { Compare } from "./compare/compare";
import type { Model } from "./compare/model";

export default widget<Model>((model, el, signal) => new Compare(model, el, signal));
