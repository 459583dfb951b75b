export { expressionColumns } from '../../schema/expression-columns.js';
