export { expressionColumns } from '../../schema/sql-text/expression-columns.js';
