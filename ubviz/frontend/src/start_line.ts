/** The start line of notebook 06, as anywidget takes it. */

import { widget } from "./base/render";
import type { Model } from "./start_line/model";
import { StartLine } from "./start_line/view";

export default widget<Model>((model, el, signal) => new StartLine(model, el, signal));
