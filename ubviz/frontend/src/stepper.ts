/** The stepper, as anywidget takes it. */

import { widget } from "./base/render";
import type { Model } from "./stepper/model";
import { Stepper } from "./stepper/stepper";

export default widget<Model>((model, el, signal) => new Stepper(model, el, signal));
