/** The scheduler in the learner's hands, as anywidget takes it. */

import { widget } from "./base/render";
import type { Model } from "./scheduler/model";
import { Scheduler } from "./scheduler/view";

export default widget<Model>((model, el, signal) => new Scheduler(model, el, signal));
