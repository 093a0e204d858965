/** stacks/azure behind a user's transform, as the configuration says. */
import './transform';
import '../../../../stacks/azure';
