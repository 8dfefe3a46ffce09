/** The lab, as anywidget takes it. */

import { widget } from "./base/render";
import { Lab } from "./lab/lab";
import type { Model } from "./lab/model";

export { times } from "./lab/flow";
export { numbersOf } from "./lab/numbers";
export { planOf } from "./lab/plan";
export default widget<Model>((model, el, signal) => new Lab(model, el, signal));
