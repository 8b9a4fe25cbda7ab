"""How much of the suite the ordinary run does, so that it ends within minutes: about five on two quiet cores.

The power of a law is the number of cases or examples that a run tries. It stands here and nowhere else; `just power`
prints it, with the whole number beside it.

`SAMPLED` says of a parametrised test how many of its cases the ordinary run takes, spread evenly over them; the others
are marked `slow`, as are whole tests that stand here with 0. `POWER` says of a test that makes its examples, or goes
through a list of them, how many it tries in an ordinary run and in a long one, of which it is a part too: by `tried`
above a test of hypothesis, or by the fixtures `tries` (their number) and `by_lot` (so many of a list). So no
case is lost: `pytest -m slow` runs all that the ordinary run leaves out, and `--part K/N` a K-th part of N of it,
chosen by a digest of each test's name. `.ci/run` takes another part with each commit, and the pages in `PAGES`.

What is taken in part: laws over a grid of parameters (its ends and some between), tables of meanings that random
questions try on both engines too, and what takes long. Whole are tables in which each case is a fact of its own that
nothing else tries: what is refused, which change of a receipt or of a ledger is found, what a connection cannot reach.
Controls, which have to fail, are whole too, but for those that take a large part of a second: they are slow, since
what they say of a law does not change with the code that it tries.

`REGISTRY` are the tests that fail when something is added and not registered everywhere; `--quick` leaves out `LONG`,
which stand in `long.txt`, and takes two cases of each test.
"""

from __future__ import annotations

import random
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

SAMPLED: Final[dict[str, int]] = {
    "accounting/test_calibrate.py::test_a_little_less_noise_is_not_proved": 1,
    "accounting/test_calibrate.py::test_continuous_gaussian_noise_by_the_curve": 6,
    "accounting/test_calibrate.py::test_error_targets": 2,
    "accounting/test_calibrate.py::test_every_search_ends_soon": 0,
    "accounting/test_calibrate.py::test_laplace_for_a_hundred_releases": 0,
    "accounting/test_calibrate.py::test_on_samples_the_target_is_met_and_a_little_less_noise_does_not": 0,
    "accounting/test_calibrate.py::test_the_target_is_met": 1,
    "accounting/test_calibrate_every.py::test_a_rho": 6,
    "accounting/test_calibrate_every.py::test_an_epsilon_alone": 18,
    "accounting/test_calibrate_every.py::test_an_epsilon_and_a_delta": 2,
    "accounting/test_calibrate_every.py::test_an_error": 5,
    "accounting/test_calibrate_every.py::test_d10_several_discrete_gaussians_cost_what_continuous_ones_do": 1,
    "accounting/test_clock.py::test_h11_without_time_the_first_grid_is_made_all_the_same": 1,
    "accounting/test_closed.py::test_a_bounded_range_by_its_rho": 3,
    "accounting/test_closed.py::test_bounded_ranges_that_do_not_adapt": 1,
    "accounting/test_closed.py::test_deltas_are_the_same_methods_the_other_way_round": 1,
    "accounting/test_closed.py::test_every_method_is_above_the_loss_of_one_release": 5,
    "accounting/test_closed.py::test_gaussians_are_one_gaussian": 2,
    "accounting/test_closed.py::test_more_releases_cost_more_by_every_method": 3,
    "accounting/test_closed.py::test_no_method_is_below_the_certified_lower_end_of_mixed_losses": 1,
    "accounting/test_closed.py::test_no_method_is_below_the_truth_for_coins": 9,
    "accounting/test_closed.py::test_optimal_epsilon_has_the_delta_and_a_little_less_has_not": 8,
    "accounting/test_closed.py::test_pure_as_rho": 3,
    "accounting/test_composed_tradeoff.py::test_ends_of_alpha": 0,
    "accounting/test_composed_tradeoff.py::test_h3_a_sampled_composition_is_enclosed_by_the_better_of_both_ways": 1,
    "accounting/test_composed_tradeoff.py::test_it_holds_the_best_test_between_coins": 4,
    "accounting/test_composed_tradeoff.py::test_it_holds_the_one_gaussian_that_many_are": 4,
    "accounting/test_composed_tradeoff.py::test_the_curve_falls_is_convex_and_agrees_with_delta": 0,
    "accounting/test_composed_tradeoff.py::test_the_other_way_round_is_the_same_curve": 1,
    "accounting/test_composition.py::TestLaws::test_epsilon_and_delta_are_each_others_inverse": 0,
    "accounting/test_composition.py::TestLaws::test_losses_in_the_thousands_have_both_bounds": 0,
    "accounting/test_composition.py::TestLaws::test_more_is_never_cheaper_and_a_loss_more_adds_at_most_its_own": 1,
    "accounting/test_composition.py::TestLaws::test_splitting_a_gaussian_changes_nothing": 1,
    "accounting/test_composition.py::TestLaws::test_the_grid_fits_the_atoms_of_most_losses_where_not_all_fit": 0,
    "accounting/test_composition.py::TestWhatOthersGotWrong::test_many_different_mechanisms_are_no_trouble": 0,
    "accounting/test_composition.py::TestWhatOthersGotWrong::test_renyi_orders_on_a_grid_are_no_limit": 0,
    "accounting/test_contour.py::test_both_sides_of_the_rule": 3,
    "accounting/test_contour.py::test_coins_are_those_of_the_exact_sum": 4,
    "accounting/test_contour.py::test_many_different_losses_go_along_one_contour": 0,
    "accounting/test_contour.py::test_many_gaussians_are_the_one_of_the_exact_curve": 2,
    "accounting/test_contour.py::test_moments_are_the_divergences": 18,
    "accounting/test_contour.py::test_moments_are_those_of_the_law_on_a_fine_grid": 3,
    "accounting/test_contour.py::test_the_estimate_is_near_the_bracket_on_both": 1,
    "accounting/test_contour.py::test_what_is_left_beyond_is_bounded": 7,
    "accounting/test_estimate.py::test_delta_at_an_epsilon_too": 0,
    "accounting/test_estimate.py::test_the_estimate_is_near_the_bracket": 1,
    "accounting/test_exchange.py::test_what_goes_out_and_in_twice_dominates_and_stays_near": 4,
    "accounting/test_factorisation.py::test_named_factors_are_their_matrices_and_no_pattern_moves_further": 15,
    "accounting/test_filters.py::test_a_hundred_thousand_spends_of_a_hundred_thousandth_exhaust_one_exactly": 0,
    "accounting/test_filters.py::test_an_odometer_holds_at_every_moment_but_for_its_delta": 0,
    "accounting/test_kronecker.py::test_a_product_is_the_floor_of_the_exact_one": 20,
    "accounting/test_oracles.py::test_the_bracket_holds_what_is_known": 10,
    "accounting/test_peers.py::test_the_numbers_of_others_are_met": 57,
    "accounting/test_pld.py::test_the_bracket_holds_the_direct_sum": 3,
    "accounting/test_pld_cells.py::test_ladders_are_the_laws_tails": 8,
    "accounting/test_pld_cells.py::test_lumps_of_any_pieces_are_dominated_by_them": 20,
    "accounting/test_pld_cells.py::test_the_two_rows_are_on_either_side_of_the_curve": 6,
    "accounting/test_sampled_oracles.py::test_a_small_delta_is_no_smaller_than_round_off_lets_it_be": 0,
    "accounting/test_sampled_oracles.py::test_adding_a_row": 0,
    "accounting/test_sampled_oracles.py::test_many_steps_are_certified": 0,
    "accounting/test_sampled_oracles.py::test_replacing_is_not_adding_or_removing": 0,
    "accounting/test_sampled_oracles.py::test_the_estimate_has_six_figures": 1,
    "accounting/test_sampled_oracles.py::test_the_worse_direction_is_taken_after_composing": 0,
    "accounting/test_sampled_pld.py::test_losses_beyond_any_grid_are_bounded_still": 2,
    "accounting/test_sampled_pld.py::test_losses_of_hundreds_of_digits_are_no_error": 1,
    "accounting/test_sampled_pld.py::test_tails_in_doubles_are_those_of_the_law": 14,
    "accounting/test_sampled_pld.py::test_the_bracket_holds_the_direct_sum_of_the_worse_direction": 1,
    "accounting/test_sampled_pld.py::test_the_two_rows_are_on_either_side_of_the_curve": 5,
    "accounting/test_sampled_sweep.py::test_h1_a_bracket_on_few_sampled_steps_is_narrow": 0,
    "accounting/test_sampled_sweep.py::test_h1_a_renyi_bound_of_samples_is_among_the_closed_ones": 1,
    "accounting/test_sampled_sweep.py::test_h1_calibrated_noise_is_proved_and_near_the_least": 0,
    "accounting/test_sampled_sweep.py::test_h1_the_value_of_the_fault_s_own_row": 0,
    "accounting/test_tradeoff.py::test_bayes_risk_is_the_least_over_the_curve": 2,
    "accounting/test_tradeoff.py::test_gaussian_noise": 5,
    "accounting/test_tradeoff.py::test_the_curve_is_convex_falls_and_agrees_with_delta": 1,
    "accounting/test_training.py::test_the_moments_accountant_is_reproduced_and_beaten": 0,
    "aggregates/test_bars.py::test_h2_each_aggregate_alone_has_a_bar_that_covers_and_is_attained": 10,
    "aggregates/test_moments.py::test_a_bar_far_too_short_would_be_noticed": 0,
    "aggregates/test_moments.py::test_bars_cover_as_often_as_they_say": 1,
    "aggregates/test_moments_on_data.py::test_at_a_huge_price_they_are_what_plain_sql_says": 0,
    "attacks/test_adversary_surface.py::test_an_answer_too_large_for_memory_is_refused_before_the_charge": 0,
    "attacks/test_adversary_surface.py::test_every_answer_holds_with_its_receipt": 1,
    "attacks/test_adversary_surface.py::test_no_depth_of_calls_makes_an_answer_fail_after_the_charge": 0,
    "attacks/test_batch.py::test_row_10_a_batch_too_large_for_one_statement_is_refused_before_it_is_charged": 0,
    "attacks/test_batch.py::test_row_10_and_35_every_failure_is_one_fault_without_data": 1,
    "attacks/test_batch.py::test_row_18_many_at_once_pay_one_batch_once_and_a_budget_for_two_pays_two": 0,
    "attacks/test_batch.py::test_row_18_two_processes_pay_one_batch_once": 0,
    "attacks/test_batch.py::test_row_19_a_batch_charged_and_not_answered_is_resumed_at_no_new_charge": 1,
    "attacks/test_batch_as_one.py::test_a_receipt_with_losses_without_end_is_refused_before_they_are_put_together": 0,
    "attacks/test_batch_as_one.py::test_row_18_and_19_two_processes_pay_one_point_once_and_a_third_repeats_it": 0,
    "attacks/test_batch_as_one.py::test_row_18_many_at_once_pay_for_two_points_where_there_is_delta_for_two": 0,
    "attacks/test_batch_as_one.py::test_row_20_a_batch_in_parts_is_not_paid_by_the_whole": 0,
    "attacks/test_batch_as_one.py::test_together_has_a_bound_for_any_history_and_any_delta": 0,
    "attacks/test_crash.py::test_row_19_a_kill_at_any_moment_loses_no_charge": 1,
    "attacks/test_crash.py::test_row_19_two_that_resume_at_once_show_one_answer": 1,
    "attacks/test_fire.py::test_row_18_a_budget_for_two_answers_two_of_all": 2,
    "attacks/test_fire.py::test_row_18_the_same_question_at_once_is_one_charge_and_one_answer": 1,
    "attacks/test_memory.py::test_a1_a_question_that_grows_ends_alike_with_and_without_a_row": 0,
    "attacks/test_memory.py::test_a1_what_is_accepted_stays_within_the_allowance_on_the_largest_rows": 0,
    "attacks/test_no_question_closes.py::test_row_10_no_accepted_question_can_fail_after_the_charge": 3,
    "attacks/test_rows_system.py::test_row_10_every_failure_is_one_fault": 4,
    "attacks/test_rows_system.py::test_row_16_forks_share_no_noise": 0,
    "attacks/test_rows_system.py::test_row_20_the_charge_does_not_depend_on_data": 1,
    "attacks/test_rows_system.py::test_row_29_averaging_repeats_gains_nothing": 0,
    "attacks/test_rows_system.py::test_row_29_the_same_in_other_words_is_free_with_the_same_numbers_or_paid_for": 2,
    "attacks/test_rows_system.py::test_row_31_ten_tenths_are_one": 1,
    "attacks/test_rows_system.py::test_row_35_no_exact_integer_outlives_a_failure": 2,
    "attacks/test_rows_values.py::test_row_04_nan_through_clamp": 1,
    "attacks/test_rows_values.py::test_row_08_order_and_rounding_of_sums": 0,
    "attacks/test_rows_values.py::test_row_27_an_average_is_clamped_by_declared_bounds": 0,
    "attacks/test_rows_values.py::test_row_38_noise_is_not_cut": 0,
    "attacks/test_rows_values.py::test_rows_05_to_07_no_output_tells_by_being_possible": 1,
    "audit/test_blackbox.py::test_fitted_scores_see_what_all_parts_say_together": 2,
    "audit/test_bound.py::test_each_limit_has_the_tail_it_promises_and_not_much_less": 14,
    "audit/test_copies.py::test_an_input_that_is_changed_in_place_is_no_state": 0,
    "audit/test_divergences.py::test_rho_of_the_whole_laws_is_more_than_that_of_an_event": 0,
    "audit/test_features.py::test_laws_that_differ_are_told_apart_and_equal_ones_are_not": 2,
    "audit/test_known.py::test_an_event_that_never_happens_on_one_side_is_found": 0,
    "audit/test_known.py::test_broken_ones_are_flagged": 1,
    "audit/test_known.py::test_correct_ones_are_not": 1,
    "audit/test_known.py::test_draws_follow_the_small_laws": 4,
    "audit/test_known_mistakes.py::test_a_known_mistake_is_found_with_a_witness": 1,
    "audit/test_known_mistakes.py::test_a_right_mechanism_passes": 1,
    "audit/test_known_mistakes.py::test_f11_a_sparse_vector_that_measures_its_number_anew_is_not": 0,
    "audit/test_known_mistakes.py::test_f11_a_sparse_vector_that_shows_its_compared_number_is_found": 0,
    "audit/test_known_mistakes.py::test_f11_rows_within_the_bounds_are_reported_before_nan": 0,
    "audit/test_known_mistakes.py::test_f11_the_parts_share_the_probability_of_error": 0,
    "audit/test_laws.py::test_no_mechanism_of_ours_is_found_to_break_its_loss_and_each_breaks_less": 2,
    "audit/test_probes.py::test_bounds_cost_and_bytes": 1,
    "audit/test_probes.py::test_keys_and_their_order": 0,
    "audit/test_probes.py::test_nan_and_infinities": 0,
    "audit/test_probes.py::test_no_odd_row_is_told_by_an_error": 0,
    "audit/test_probes.py::test_order_of_rows": 0,
    "audit/test_replay.py::test_inputs_move_as_far_as_declared_and_no_further": 8,
    "audit/test_replay.py::test_what_is_right_passes": 2,
    "audit/test_run.py::test_and_not_its_loss": 1,
    "audit/test_run.py::test_laplace_of_scale_1_breaks_half_its_loss_in_every_measure": 1,
    "audit/test_self_audit.py::test_a_claim_of_two_hundredths_less_is_found_out_for_certain": 1,
    "audit/test_self_audit.py::test_a_mistake_of_the_engine_is_found": 0,
    "audit/test_self_audit.py::test_a_wrong_cap_is_found": 0,
    "audit/test_self_audit.py::test_no_generated_plan_breaks_its_claims": 0,
    "audit/test_self_audit.py::test_no_mechanism_breaks_what_its_loss_says": 1,
    "break_me/test_break_me.py::test_a_mistake_is_found_with_a_small_witness": 1,
    "break_me/test_break_me.py::test_a_relation_that_is_not_of_one_unit_is_found": 0,
    "break_me/test_break_me.py::test_a_rule_weakened_is_found_with_unknown_keys": 0,
    "break_me/test_break_me.py::test_columns_with_one_value_a_unit_hold_whether_or_not_the_rows_are_alike": 0,
    "break_me/test_break_me.py::test_every_pair_is_a_pair_of_neighbours": 4,
    "break_me/test_break_me.py::test_keys_of_a_public_table_and_a_second_table_are_asked_too": 0,
    "break_me/test_break_me.py::test_questions_reach_the_whole_surface_and_are_nearly_always_answered": 0,
    "break_me/test_break_me.py::test_the_same_seed_tries_the_same": 0,
    "break_me/test_break_me.py::test_what_is_right_passes": 0,
    "cases/test_expressions.py::test_per_03_a_distinct_count_of_an_expression_of_the_unit_is_the_same_work": 2,
    "cases/test_expressions.py::test_per_03_fifty_thousand_ids_in_two_hundred_thousand_rows": 0,
    "cases/test_expressions.py::test_sen_03_a_sum_of_squares_whose_bounds_straddle_zero": 2,
    "cases/test_expressions.py::test_tim_01_day_buckets_do_not_depend_on_the_machine": 1,
    "cases/test_ledger.py::test_bud_01_even_shares_are_all_accepted_and_nothing_more": 1,
    "cases/test_ledger.py::test_bud_03_fifty_threads_and_eight_processes_get_ten_tenths": 0,
    "cases/test_ledger.py::test_bud_03_killed_between_charge_and_answer": 1,
    "cases/test_ledger.py::test_bud_07_no_seed_and_no_noise_in_common": 1,
    "cases/test_questions.py::test_sql_12_a_noisy_denominator_of_zero_or_below": 0,
    "cases/test_sampling.py::test_com_11_an_everyday_epsilon_is_no_error": 1,
    "cases/test_sampling.py::test_hunt_41_the_numbers_beside_a_well_known_figure": 0,
    "cases/test_selection.py::test_hunt_36_no_group_of_fewer_people_than_the_law_asks_for_whatever_the_price": 1,
    "cases/test_selection.py::test_sel_05_a_key_of_one_person_stays_out": 1,
    "cases/test_selection.py::test_sel_07_a_median_of_many_zeros_is_zero": 1,
    "cases/test_selection.py::test_spv_08_the_distinct_values_can_be_counted_by_their_groups": 2,
    "catalog/test_formats.py::test_formats_that_are_taken_together_read_no_day_differently": 10,
    "cli/test_account.py::test_progress_tells_bounds_that_only_get_better": 0,
    "cli/test_batches.py::test_a_list_that_holds_no_receipts_does_not_hold": 2,
    "cli/test_commands.py::test_bad_prices": 3,
    "cli/test_commands.py::test_demo": 0,
    "cli/test_currencies.py::test_bad_prices_in_rho": 2,
    "cli/test_describe.py::test_what_cannot_be_is_refused_with_the_way_out": 2,
    "cli/test_formats.py::test_e9_a_full_device_is_no_fault_and_the_answer_is_stored": 1,
    "cli/test_plot.py::test_every_chart_of_every_noise_is_written_and_that_is_said": 2,
    "cli/test_plot.py::test_options_are_as_they_say": 0,
    "cli/test_unknown_keys.py::test_a_file_of_them_is_one_batch_with_a_row_of_others_each": 1,
    "cli/test_unknown_keys.py::test_every_command_takes_it": 1,
    "cli/test_users.py::test_what_cannot_be_done_says_what_to_type": 5,
    "curator/test_batching.py::test_errors_of_columns_give_each_question_its_least_price": 2,
    "curator/test_batching.py::test_one_charge_of_the_exact_sum_and_a_receipt_each": 2,
    "curator/test_batching.py::test_only_what_is_new_of_a_question_is_charged": 1,
    "curator/test_batching_as_one.py::test_a_ledger_without_such_a_delta_refuses_it_and_is_left_alone": 2,
    "curator/test_batching_as_one.py::test_a_question_twice_counts_once_and_what_is_public_not_at_all": 0,
    "curator/test_batching_as_one.py::test_a_receipt_that_lies_about_its_point_is_caught": 1,
    "curator/test_batching_as_one.py::test_a_repeat_is_free_and_fresh_is_paid_again": 0,
    "curator/test_batching_as_one.py::test_it_is_charged_the_certified_point_and_every_receipt_holds": 1,
    "curator/test_batching_as_one.py::test_no_price_costs_more_epsilon_as_one": 1,
    "curator/test_batching_as_one.py::test_one_and_the_same_reading_under_another_name_is_drawn_and_counted_once": 0,
    "curator/test_batching_as_one.py::test_short_of_delta_it_is_refused_and_nothing_is_charged": 0,
    "curator/test_batching_as_one.py::test_stopped_between_charge_and_answer_it_is_resumed_at_no_new_charge": 0,
    "curator/test_batching_as_one.py::test_where_a_point_is_no_less_the_batch_is_the_same_as_without_the_word": 1,
    "curator/test_bounds.py::test_at_a_huge_price_the_share_lies_beyond_each_end_whatever_the_numbers_are": 1,
    "curator/test_bounds.py::test_declared_bounds_are_not_used": 0,
    "curator/test_bounds.py::test_what_has_none_is_refused_with_the_way_out": 4,
    "curator/test_curator.py::test_a_quote_made_by_hand_is_refused": 9,
    "curator/test_curator.py::test_an_edited_public_fact_makes_a_new_question": 1,
    "curator/test_curator.py::test_what_the_first_question_fixed_cannot_be_edited": 1,
    "curator/test_cut.py::test_in_every_ledger_and_relation_it_holds_by_both_verifiers": 2,
    "curator/test_cut.py::test_it_is_how_many_people_are_cut_of_how_many": 3,
    "curator/test_cut.py::test_what_is_done_with_a_paid_answer_costs_nothing_and_shows_its_cut": 4,
    "curator/test_disjoint.py::test_all_receipts_hold_in_both_verifiers_and_a_lie_does_not": 2,
    "curator/test_disjoint.py::test_any_sequence_of_batches_is_charged_as_quoted_and_repeats_for_nothing": 0,
    "curator/test_disjoint.py::test_as_one_pays_a_grouping_once_too": 0,
    "curator/test_disjoint.py::test_one_unit_moves_all_questions_together_by_at_most_the_one_sensitivity": 1,
    "curator/test_distinct.py::test_receipts_hold_by_both_verifiers_and_forged_ones_do_not": 1,
    "curator/test_history.py::test_it_is_the_certified_bound_on_the_losses_of_every_charge": 0,
    "curator/test_history.py::test_many_kinds_are_rounded_up_to_few": 0,
    "curator/test_history.py::test_of_a_charge_with_other_parameters_the_price_is_taken": 5,
    "curator/test_key_order.py::test_the_order_of_listed_keys_is_free_and_each_number_stays_with_its_keys": 1,
    "curator/test_min_units.py::test_d5_a_group_of_fewer_is_never_shown_and_both_verifiers_agree": 1,
    "curator/test_min_units.py::test_d5_a_least_number_shifts_the_probability_and_nothing_else": 3,
    "curator/test_most_common.py::test_at_a_huge_price_it_is_what_sql_says": 1,
    "curator/test_most_common.py::test_receipts_hold_by_both_verifiers_and_forged_ones_do_not": 0,
    "curator/test_one_draw.py::test_d5_repeats_and_what_is_added_share_the_keys_with_their_count": 1,
    "curator/test_quantiles.py::test_how_far_apart_candidates_are_is_said_where_no_bar_in_rank_covers_it": 2,
    "curator/test_quantiles.py::test_receipts_hold_by_both_verifiers_whatever_the_currency": 1,
    "curator/test_readings.py::test_any_sequence_of_questions_is_charged_for_new_readings_alone": 1,
    "curator/test_readings.py::test_d1_what_is_done_with_a_paid_answer_costs_nothing": 3,
    "curator/test_readings.py::test_selected_keys_are_shared_with_their_readings": 1,
    "curator/test_rehearsal.py::test_as_many_units_as_the_catalog_says_and_no_more_rows_than_are_soon_answered": 4,
    "curator/test_rehearsal.py::test_it_answers_free_without_data_and_leaves_the_ledger_as_it_was": 3,
    "curator/test_rehearsal.py::test_the_engine_says_what_the_reference_says": 0,
    "curator/test_relations.py::test_every_feature_has_every_relation": 1,
    "curator/test_rotation.py::test_cut_short_anywhere_the_key_in_force_is_here_and_the_same_again_goes_on": 2,
    "curator/test_rotation.py::test_receipts_of_before_and_after_hold_by_either_key_and_by_the_ledger": 0,
    "curator/test_sets.py::test_a_quote_tells_of_the_widest_bar_and_a_wanted_error_is_that_of_totals_too": 2,
    "engines/test_by_hand.py::test_a_mistake_in_the_query_fails_a_table": 1,
    "engines/test_chosen.py::TestChosen::test_a_unit_keeps_its_first_keys_by_md5": 12,
    "engines/test_chosen.py::test_a_mistake_in_choosing_fails_a_table": 2,
    "engines/test_conformance.py::test_every_engine_gives_the_integers_of_the_reference": 4,
    "engines/test_distinct.py::test_both_engines_count_the_same": 1,
    "engines/test_distinct.py::test_no_unit_moves_a_count_of_different_values_further_than_is_claimed": 1,
    "engines/test_duckdb.py::test_a_forked_child_may_exit_in_the_ordinary_way": 1,
    "engines/test_duckdb.py::test_an_interrupt_is_the_users_and_not_a_fault": 0,
    "engines/test_functions.py::test_a_function_gives_python_s_value_in_every_row": 10,
    "engines/test_levels.py::test_a_tree_with_more_parts_than_allowed_is_refused_before_it_is_written": 1,
    "engines/test_levels.py::test_thirty_deep_is_short_and_runs": 0,
    "engines/test_limits.py::test_every_way_of_dividing_a_sum_gives_the_same_integers": 1,
    "engines/test_patterns.py::test_a2_a_bad_pattern_ends": 0,
    "engines/test_patterns.py::test_a_text_fits_a_pattern_as_its_definition_says": 0,
    "engines/test_patterns.py::test_the_longest_pattern_is_compiled": 2,
    "engines/test_relations.py::test_caps_of_groups_of_one_row_are_one_cap": 1,
    "engines/test_relations.py::test_rows_are_added_up_by_the_unit_before_they_are_joined_on_it": 2,
    "engines/test_together.py::test_each_merged_plan_holds_each_question_once_and_each_sum_once": 0,
    "engines/test_together.py::test_questions_under_conditions_of_their_own_are_read_and_grouped_at_once": 0,
    "engines/test_together.py::test_together_is_one_by_one": 3,
    "engines/test_vectors.py::test_on_every_engine": 8,
    "fronts/test_bins.py::test_buckets_are_those_of_postgresql": 4,
    "fronts/test_frame.py::test_what_passes_the_bounds_of_sql_passes_in_both_fronts": 0,
    "fronts/test_frame_rows.py::test_random_frames_are_mostly_answered": 0,
    "fronts/test_fuzz.py::test_deep_texts_run_out_of_no_stack": 6,
    "fronts/test_fuzz.py::test_only_a_plan_or_a_refusal_comes_out": 6,
    "gallery/test_pictures.py::test_a_picture_is_what_its_page_draws": 1,
    "language/test_expressions.py::test_what_an_expression_is_of_a_row": 40,
    "language/test_predicates.py::test_an_integer_column_meets_a_number_exactly": 5,
    "language/test_zones.py::test_a_zone_is_zoneinfo_s": 3,
    "laws/test_every_mechanism.py::test_a_smaller_promise_would_be_found_out": 6,
    "laws/test_every_mechanism.py::test_no_hockey_stick_passes_delta": 12,
    "laws/test_every_mechanism.py::test_no_log_ratio_passes_the_pure_epsilon": 12,
    "laws/test_every_mechanism.py::test_the_masses_sum_to_one": 3,
    "laws/test_every_mechanism.py::test_what_is_said_to_be_attained_is": 3,
    "laws/test_heart.py::test_a_claim_of_one_less_fails": 1,
    "laws/test_heart.py::test_a_number_taken_as_public_where_it_is_not_fails": 1,
    "laws/test_heart.py::test_an_ask_rule_weakened_by_one_step_fails": 4,
    "laws/test_heart.py::test_grouped_by_columns_with_one_value_a_unit_the_law_holds_whatever_the_rows_are": 1,
    "laws/test_heart.py::test_scaling_down_otherwise_fails": 2,
    "laws/test_heart_names.py::test_one_less_than_is_claimed_fails": 4,
    "laws/test_heart_names.py::test_the_promise_by_enumeration": 3,
    "laws/test_heart_quantiles.py::test_one_less_than_is_claimed_fails": 5,
    "laws/test_heart_relations.py::test_a_join_by_something_else_than_the_unit_is_found": 0,
    "laws/test_heart_relations.py::test_a_list_that_looks_at_other_rows_is_found": 0,
    "laws/test_heart_relations.py::test_row_numbers_across_units_are_found": 0,
    "laws/test_neighbours_see_the_same.py::test_catalog_quotes_menus_and_prices_are_the_same": 1,
    "laws/test_neighbours_see_the_same.py::test_ledger_events_are_the_same_but_for_the_answers_hash": 1,
    "laws/test_neighbours_see_the_same.py::test_public_files_beside_the_catalog_are_the_same": 2,
    "laws/test_neighbours_see_the_same.py::test_receipts_are_the_same_but_for_the_answers_hash": 1,
    "laws/test_neighbours_see_the_same.py::test_refusals_are_the_same_and_charge_nothing": 1,
    "laws/test_neighbours_see_the_same.py::test_schema_keys_order_costs_and_notes_are_the_same_whatever_the_noise": 1,
    "laws/test_neighbours_see_the_same.py::test_what_the_shell_prints_before_the_noise_is_the_same": 1,
    "laws/test_neighbours_see_the_same.py::test_with_the_same_noise_answers_differ_by_the_units_share_alone": 1,
    "laws/test_no_row_becomes_many.py::test_a_join_that_multiplies_rows_is_found": 0,
    "laws/test_questions.py::test_a_law_that_is_broken_is_named_with_its_question": 0,
    "laws/test_questions.py::test_every_law_holds_of_every_question": 4,
    "ledger/test_accounts.py::test_an_analyst_of_a_name_that_no_account_has_is_answered_as_before": 10,
    "ledger/test_accounts.py::test_what_is_no_account_is_refused_and_nothing_is_written": 27,
    "ledger/test_fire.py::test_50_threads_of_one_process": 2,
    "ledger/test_fire.py::test_a_budget_for_two_admits_two_of_all": 2,
    "ledger/test_fire.py::test_on_a_server_a_budget_for_two_admits_two_of_all": 1,
    "ledger/test_kill.py::test_what_was_printed_is_in_the_ledger_after_any_kill": 0,
    "ledger/test_ledger.py::test_any_text_is_stored_as_it_is": 8,
    "ledger/test_sqlite.py::test_case_per_01_a_charge_costs_the_same_however_long_the_history": 0,
    "ledger/test_tampered.py::test_a_forged_chain_must_still_add_up": 20,
    "ledger/test_tampered.py::test_any_flipped_byte_is_either_harmless_or_told": 1,
    "mechanisms/test_bad_input.py::test_a_bad_parameter_is_refused_in_words": 125,
    "mechanisms/test_binomial_interval.py::test_every_true_count_is_covered": 15,
    "mechanisms/test_binomial_interval.py::test_the_ends_are_those_of_the_exact_tails": 3,
    "mechanisms/test_binomial_interval.py::test_the_radius_covers_every_count": 9,
    "mechanisms/test_discrete_gaussian.py::test_delta_is_the_hockey_stick_of_the_law": 9,
    "mechanisms/test_discrete_gaussian.py::test_error_is_the_smallest_that_the_law_allows": 28,
    "mechanisms/test_discrete_gaussian.py::test_euler_maclaurin_agrees_with_adding_up": 6,
    "mechanisms/test_discrete_gaussian.py::test_rho_bounds_every_renyi_divergence_and_whole_orders_attain_it": 3,
    "mechanisms/test_discrete_gaussian.py::test_spending_is_the_least_of_all_smaller_variances": 3,
    "mechanisms/test_discrete_gaussian.py::test_spending_meets_delta_and_the_next_smaller_variance_does_not": 4,
    "mechanisms/test_discrete_gaussian.py::test_the_variances_at_which_one_event_exceeds_are_one_interval": 2,
    "mechanisms/test_discrete_laplace.py::test_error_is_the_smallest_that_the_law_allows": 23,
    "mechanisms/test_discrete_laplace.py::test_loss_bounds_every_log_ratio_and_both_tails_attain_it": 6,
    "mechanisms/test_discrete_laplace.py::test_mass_sums_to_one": 2,
    "mechanisms/test_exponential.py::test_draws_follow_the_chances": 0,
    "mechanisms/test_exponential.py::test_rounding_to_the_grid_is_exact": 5,
    "mechanisms/test_exponential.py::test_the_accuracy_theorem": 12,
    "mechanisms/test_gaussian.py::test_delta_between_all_neighbours_by_enumeration": 1,
    "mechanisms/test_gaussian.py::test_epsilon_at_holds_and_is_the_least": 2,
    "mechanisms/test_gaussian.py::test_on_a_fine_grid_it_is_as_good_as_the_exact_curve": 4,
    "mechanisms/test_grid.py::test_a_fast_path_without_a_margin_would_be_wrong": 5,
    "mechanisms/test_grid.py::test_a_million_values_are_those_one_by_one": 0,
    "mechanisms/test_grid.py::test_doubles_become_the_whole_numbers_of_the_definition": 3,
    "mechanisms/test_hadamard_response.py::test_a_million_reports": 1,
    "mechanisms/test_hadamard_response.py::test_a_million_values_at_once": 0,
    "mechanisms/test_hadamard_response.py::test_laws_over_every_report": 2,
    "mechanisms/test_hadamard_response.py::test_the_interval_covers_every_truth": 0,
    "mechanisms/test_inverse_sensitivity.py::test_a_fine_grid_and_many_rows": 0,
    "mechanisms/test_inverse_sensitivity.py::test_lengths_and_law_by_enumeration": 3,
    "mechanisms/test_inverse_sensitivity.py::test_log_ratios_of_neighbours_span_at_most_epsilon": 0,
    "mechanisms/test_inverse_sensitivity.py::test_releases_follow_the_law": 0,
    "mechanisms/test_key_selection.py::test_keys_are_kept_with_their_chance": 0,
    "mechanisms/test_key_selection.py::test_tail_and_decision_are_one": 4,
    "mechanisms/test_key_selection.py::test_the_delta_of_one_key_given_to_each_of_several_fails": 1,
    "mechanisms/test_key_selection.py::test_the_draw_that_selects_may_be_released": 6,
    "mechanisms/test_key_selection.py::test_the_kept_set_is_as_private_as_promised": 3,
    "mechanisms/test_laplace.py::test_every_log_ratio_between_neighbours_is_within_epsilon": 1,
    "mechanisms/test_local_hashing.py::test_every_pair_of_values_collides_with_the_chance_stated": 12,
    "mechanisms/test_local_hashing.py::test_laws_over_every_report": 1,
    "mechanisms/test_local_hashing.py::test_the_interval_covers_every_truth": 0,
    "mechanisms/test_noisy_max.py::test_draws_follow_the_law": 0,
    "mechanisms/test_noisy_max.py::test_loss_bounds_every_log_ratio": 0,
    "mechanisms/test_noisy_max.py::test_monotone_noise_fails_for_scores_that_are_not": 0,
    "mechanisms/test_noisy_max.py::test_probabilities_are_the_sums_over_thresholds": 0,
    "mechanisms/test_permute_and_flip.py::test_draws_follow_the_law": 0,
    "mechanisms/test_permute_and_flip.py::test_loss_bounds_every_log_ratio": 1,
    "mechanisms/test_permute_and_flip.py::test_the_law_three_ways": 2,
    "mechanisms/test_propose_test_release.py::test_every_pair_of_neighbours_is_within_the_loss": 1,
    "mechanisms/test_propose_test_release.py::test_releases_follow_the_law": 0,
    "mechanisms/test_quantile.py::test_draws_from_a_grid_of_a_billion_follow_the_law": 0,
    "mechanisms/test_quantile.py::test_each_record_is_moved_to_its_nearest_candidate_whatever_stands_beside_it": 22,
    "mechanisms/test_quantile.py::test_places_on_a_grid_are_exact_at_halves": 2,
    "mechanisms/test_quantile.py::test_the_sensitivity_is_the_least_over_all_neighbours": 3,
    "mechanisms/test_randomised_response.py::test_a_million_reports": 1,
    "mechanisms/test_randomised_response.py::test_the_interval_covers_every_truth": 1,
    "mechanisms/test_smooth_noise.py::test_every_pair_of_neighbours_is_within_the_loss": 1,
    "mechanisms/test_smooth_noise.py::test_releases_follow_the_law": 0,
    "mechanisms/test_sparse_vector.py::test_loss_bounds_every_log_ratio": 1,
    "mechanisms/test_sparse_vector.py::test_runs_follow_the_law": 0,
    "mechanisms/test_staircase.py::test_masses_tails_and_means_are_those_of_the_definition": 6,
    "mechanisms/test_staircase.py::test_the_error_is_the_smallest": 14,
    "mechanisms/test_staircase.py::test_the_loss_is_the_worst_of_all_shifts_exactly": 3,
    "mechanisms/test_top_k.py::test_draws_are_one_shot_and_follow_the_law_of_peeling": 0,
    "mechanisms/test_top_k.py::test_loss_bounds_every_log_ratio": 0,
    "mechanisms/test_unary_encoding.py::test_a_coin_by_its_sixteen_bits": 3,
    "mechanisms/test_unary_encoding.py::test_a_million_reports": 1,
    "mechanisms/test_unary_encoding.py::test_the_interval_covers_every_truth": 1,
    "mechanisms/test_weighted_quantile.py::test_the_promise_by_enumeration_under_both_relations": 1,
    "numbers/test_exact_product.py::test_it_is_the_product_that_is_compared": 4,
    "numbers/test_exact_product.py::test_records_at_halves": 6,
    "numbers/test_exact_product.py::test_values_and_scores_at_halves": 5,
    "numbers/test_geometric_sums.py::test_series_agree_with_adding_up": 0,
    "plan/test_bind_relations.py::test_a_cohort_is_a_condition_on_the_unit": 10,
    "plan/test_bind_relations.py::test_a_join_on_the_unit": 5,
    "plan/test_bind_relations.py::test_a_join_with_a_public_table": 5,
    "plan/test_bind_relations.py::test_a_subquery_by_the_unit": 11,
    "plan/test_canonical.py::test_a_changed_leaf_is_another_plan_or_none": 1,
    "plan/test_canonical.py::test_any_json_is_a_plan_or_refused": 0,
    "plan/test_check_outputs.py::test_odd_bound_plans_pass": 4,
    "plan/test_check_outputs.py::test_what_passes_is_computed_on_any_readings": 1,
    "plan/test_keys.py::test_a_plan_with_keys_agrees_with_its_catalog_and_makes_the_trip": 22,
    "plan/test_keys.py::test_keys_by_hand": 14,
    "plan/test_keys.py::test_unknown_keys_are_taken_where_they_are_declared_and_delta_is_there": 4,
    "plan/test_limits.py::test_a_batch_is_held_to_what_one_question_is": 0,
    "plan/test_limits.py::test_keys_are_named_or_refused_soon": 1,
    "plan/test_limits.py::test_keys_that_take_long_to_name_are_refused_soon": 0,
    "plan/test_limits.py::test_ordinary_keys_are_not": 2,
    "plan/test_limits.py::test_what_is_refused_depends_on_the_catalog_alone": 0,
    "plan/test_merge.py::test_merging_is_invisible_and_reads_nothing_twice": 2,
    "plan/test_public_lists.py::test_a_list_that_is_public": 12,
    "plan/test_ruled_out.py::test_ends_that_move_too_far_would_be_noticed": 0,
    "plan/test_stability.py::test_replacing_a_unit_moves_no_further_than_any_two_units_differ": 87,
    "plan/test_united.py::test_a_batch_reads_and_groups_a_shared_subquery_once": 2,
    "plans/test_newcomer.py::test_a_newcomers_statement": 13,
    "plots/test_answer.py::test_names_of_rows_cannot_break_the_chart": 0,
    "plots/test_composition.py::test_a_vector_has_an_upper_bound_alone": 0,
    "plots/test_composition.py::test_delta_is_between_its_bounds_and_below_the_simpler_methods": 0,
    "plots/test_composition.py::test_the_tradeoff_is_between_its_ends": 0,
    "plots/test_figures.py::test_a_figure_is_what_its_command_draws": 1,
    "plots/test_figures.py::test_a_figure_of_many_is_what_its_command_draws": 0,
    "plots/test_figures.py::test_the_plain_commands_draw_the_same": 0,
    "plots/test_plot.py::test_noise_draws_its_law_its_loss_and_their_curves": 1,
    "pricing/test_caps_menu.py::test_each_row_is_what_asking_under_the_cap_would_give": 2,
    "pricing/test_cut.py::test_all_of_it_costs_the_price_and_no_more": 18,
    "pricing/test_cut.py::test_its_bar_is_about_that_of_the_widest_count": 14,
    "pricing/test_joint_guarantee.py::test_noise_on_counts_of_rows_is_a_coin_and_the_point_is_the_least": 2,
    "privacy/test_distribution.py::test_atoms_are_the_jumps_of_the_tail": 11,
    "privacy/test_distribution.py::test_delta_of_the_law_is_that_of_the_loss": 38,
    "privacy/test_families.py::test_delta_of_discrete_noise_is_the_sum_over_outcomes": 1,
    "privacy/test_families.py::test_directions_are_alike_and_named": 14,
    "privacy/test_families.py::test_epsilon_is_the_least_and_is_proved": 33,
    "privacy/test_families.py::test_mean_and_renyi_of_discrete_noise_are_the_sums_over_outcomes": 2,
    "privacy/test_families.py::test_measures_agree_with_one_another": 14,
    "privacy/test_family_facts.py::test_h6_the_divergence_of_a_range_is_that_of_its_worst_coin": 8,
    "privacy/test_family_facts.py::test_lattices_and_doubles_are_those_of_the_law": 33,
    "privacy/test_family_facts.py::test_tails_on_a_grid_are_those_of_the_law": 11,
    "privacy/test_family_facts.py::test_the_measures_of_the_simplest_form_are_the_same": 33,
    "privacy/test_family_facts.py::test_what_is_attained_is_no_more_than_the_pair": 33,
    "privacy/test_family_facts.py::test_what_is_set_apart_and_the_rest_cover_the_pair": 33,
    "privacy/test_gaussian.py::test_sigma_is_the_least_of_its_figures_and_nothing_hangs": 8,
    "privacy/test_gaussian.py::test_the_curve_is_the_integral_it_is_defined_by": 8,
    "privacy/test_gaussian.py::test_the_textbook_holds_below_1_and_wastes": 8,
    "privacy/test_sampled.py::test_delta_is_that_of_the_mixture_both_ways": 11,
    "privacy/test_sampled.py::test_on_every_poisson_sample_of_every_small_table": 1,
    "privacy/test_sampled.py::test_on_every_sample_of_fixed_size_of_every_small_table": 1,
    "privacy/test_sampled.py::test_the_law_has_mass_one_and_its_own_delta": 16,
    "privacy/test_sampled_moments.py::test_beside_a_whole_order_it_is_what_it_is_there": 3,
    "privacy/test_sampled_moments.py::test_every_order_is_the_integral": 10,
    "privacy/test_zcdp.py::test_epsilon_holds_and_the_next_smaller_decimal_does_not": 18,
    "privacy/test_zcdp.py::test_it_is_the_least_over_all_orders": 4,
    "privacy/test_zcdp.py::test_rho_holds_and_the_next_greater_decimal_does_not": 18,
    "receipts/test_casts.py::test_b6_every_plan_with_a_cast_is_one_of_its_catalog": 1,
    "receipts/test_printed.py::test_what_is_printed_holds_by_both": 8,
    "receipts/test_verify.py::test_every_claim_of_every_kind_changed_and_signed_again_is_caught": 4,
    "receipts/test_verify.py::test_receipts_of_every_kind_hold_by_themselves_and_against_everything": 3,
    "recipes/test_average_weight.py::test_the_scale_of_the_noise_on_the_mean": 3,
    "recipes/test_flights.py::test_caps_that_never_bind_give_the_plain_counts": 0,
    "recipes/test_flights.py::test_counts_and_sums_equal_plain_sql_that_bounds_units_by_itself": 0,
    "recipes/test_flights.py::test_the_recipe": 0,
    "recipes/test_flights_surface.py::test_a_batch_of_ten_is_the_ten_asked_alone": 0,
    "recipes/test_flights_surface.py::test_a_rehearsal_needs_no_flights_and_costs_nothing": 0,
    "recipes/test_flights_surface.py::test_count_mean_and_sum_by_carrier_and_month_with_listed_keys": 0,
    "recipes/test_flights_surface.py::test_count_mean_and_sum_by_carrier_and_month_with_unknown_keys": 0,
    "recipes/test_flights_surface.py::test_dates_and_moments_in_where_and_as_keys": 0,
    "recipes/test_flights_surface.py::test_the_recipe": 0,
    "recipes/test_relations.py::test_flights": 0,
    "recipes/test_relations.py::test_the_clinic": 1,
    "recipes/test_wagepan.py::test_scaled_units_are_scaled_as_the_meaning_says": 1,
    "recipes/test_wagepan.py::test_the_recipe": 0,
    "release/test_finish.py::test_expressions_at_the_edges_finish": 27,
    "samplers/test_discrete_gaussian.py::test_a_place_is_kept_when_v_is_below_its_chance_and_only_then": 1,
    "samplers/test_discrete_gaussian.py::test_blocks_have_between_64_and_128_lengths_to_sigma": 4,
    "samplers/test_discrete_gaussian.py::test_law": 5,
    "samplers/test_discrete_gaussian.py::test_law_of_python_ints": 2,
    "samplers/test_discrete_gaussian.py::test_law_of_single_draws": 2,
    "samplers/test_discrete_gaussian.py::test_low_digits_of_large_variances_are_uniform": 6,
    "samplers/test_discrete_gaussian.py::test_one_draw_is_an_array_of_one": 3,
    "samplers/test_discrete_gaussian.py::test_one_tape_gives_the_same_draws_one_by_one_and_together": 4,
    "samplers/test_discrete_gaussian.py::test_the_chi_square_test_finds_broken_samplers": 6,
    "samplers/test_discrete_gaussian.py::test_the_fast_sampler_and_the_reference_have_one_law": 1,
    "samplers/test_discrete_gaussian.py::test_the_guide_is_right_for_the_first_and_last_word_of_every_beginning": 2,
    "samplers/test_discrete_gaussian.py::test_what_is_kept_at_once_is_below_every_chance_of_its_block": 3,
    "samplers/test_discrete_gaussian.py::test_words_at_each_boundary_fall_on_the_right_side": 2,
    "samplers/test_discrete_laplace.py::test_law": 4,
    "samplers/test_discrete_laplace.py::test_law_of_python_ints": 2,
    "samplers/test_discrete_laplace.py::test_law_of_single_draws": 1,
    "samplers/test_discrete_laplace.py::test_low_digits_of_large_scales_are_uniform": 6,
    "samplers/test_discrete_laplace.py::test_one_draw_is_an_array_of_one": 5,
    "samplers/test_discrete_laplace.py::test_one_tape_gives_the_same_draws_one_by_one_and_together": 4,
    "samplers/test_discrete_laplace.py::test_the_chi_square_test_finds_broken_samplers": 4,
    "samplers/test_exponential_tail.py::test_bisection_over_all_words_finds_the_law_itself": 2,
    "samplers/test_exponential_tail.py::test_floats_are_right_at_every_distance_from_a_boundary": 3,
    "samplers/test_exponential_tail.py::test_the_boundary_words_and_their_neighbours_are_not_decided_in_floats": 6,
    "samplers/test_exponential_tail.py::test_words_at_each_boundary_fall_on_the_right_side": 2,
    "samplers/test_geometric.py::test_a_scale_five_per_cent_off_is_found": 3,
    "samplers/test_geometric.py::test_law": 5,
    "samplers/test_geometric.py::test_one_draw_is_an_array_of_one": 6,
    "samplers/test_geometric_digits.py::test_middle_floats_are_right_at_every_distance_from_a_boundary": 1,
    "samplers/test_geometric_digits.py::test_middle_words_at_each_boundary_fall_on_the_right_side": 2,
    "samplers/test_gumbel_max.py::test_draws_follow_the_law": 0,
    "samplers/test_gumbel_max.py::test_floats_leave_out_nobody_who_could_win": 4,
    "samplers/test_gumbel_max.py::test_the_law_by_enumeration": 0,
    "samplers/test_reference.py::test_bernoulli_exp": 3,
    "samplers/test_reference.py::test_discrete_laplace": 1,
    "samplers/test_reference.py::test_discrete_laplace_from_bits": 1,
    "samplers/test_reference.py::test_enumeration_finds_broken_samplers": 2,
    "samplers/test_reference.py::test_geometric": 2,
    "samplers/test_reference.py::test_uniform": 4,
    "samplers/test_uniform.py::test_law": 4,
    "sensitivity/test_admissible.py::test_pure_losses_are_within_epsilon": 1,
    "sensitivity/test_bounded.py::test_combinations_are_never_below": 5,
    "sensitivity/test_bounded.py::test_each_rule_is_attained": 6,
    "sensitivity/test_checking.py::test_it_agrees_with_the_definition": 3,
    "sensitivity/test_smooth.py::test_it_is_the_maximum_and_it_is_smooth": 5,
    "sensitivity/test_windows.py::test_local_sensitivity_at_every_distance": 6,
    "server/test_browser.py::test_somebody_new_asks_with_one_click_a_price_and_another_click": 0,
    "snapshot/test_appending.py::test_the_rows_are_those_of_reading_everything": 0,
    "snapshot/test_appending.py::test_what_is_read_otherwise_now_is_read_again": 1,
    "snapshot/test_cleaned.py::test_texts_mean_the_same_from_every_source": 1,
    "snapshot/test_cleaned.py::test_typed_values_too": 1,
    "snapshot/test_codes.py::test_units_are_equal_exactly_where_their_numbers_are": 0,
    "snapshot/test_csv.py::test_c9_a_byte_order_mark_is_no_part_of_the_first_name_or_cell": 1,
    "snapshot/test_csv.py::test_encodings": 2,
    "snapshot/test_csv.py::test_only_the_broken_line_is_set_aside": 3,
    "snapshot/test_csv.py::test_paths_of_every_kind": 3,
    "snapshot/test_csv.py::test_rows": 3,
    "snapshot/test_csv.py::test_t10_without_a_header_a_mark_before_a_row_is_read_alike_wherever_the_row_stands": 2,
    "snapshot/test_csv.py::test_t17_a_line_past_the_limit_is_never_cut_between_cr_and_lf": 4,
    "snapshot/test_csv.py::test_t1_half_a_letter_in_any_encoding_sets_its_row_aside_alone": 2,
    "snapshot/test_dialect.py::test_a_line_is_read_as_it_is_alone_whatever_lines_are_beside_it": 2,
    "snapshot/test_dialect.py::test_hunt_16_a_declared_dialect_is_read": 4,
    "snapshot/test_folders.py::test_a_folder_is_declared_or_no_column_and_never_in_both": 1,
    "snapshot/test_folders.py::test_declared_folders_are_columns": 1,
    "snapshot/test_frames.py::test_an_instant_past_the_calendar_harms_no_other_row": 2,
    "snapshot/test_frames.py::test_nanoseconds_are_cut_downward_and_zones_are_declared": 0,
    "snapshot/test_frames.py::test_t18_a_column_of_a_frame_is_read_alike_as_a_vector_and_by_values": 24,
    "snapshot/test_frames.py::test_t1_a_value_that_python_has_none_of_harms_no_other_row": 3,
    "snapshot/test_frames.py::test_the_same_rows_from_every_library": 4,
    "snapshot/test_frames.py::test_values_are_converted_exactly_or_not_at_all": 3,
    "snapshot/test_frames.py::test_values_of_no_type_are_unreadable": 0,
    "snapshot/test_interrupted.py::test_a_broken_file_is_told_and_the_version_before_stays": 2,
    "snapshot/test_interrupted.py::test_a_file_that_is_replaced_while_it_is_read_is_told_and_nothing_of_it_is_used": 1,
    "snapshot/test_loading.py::test_t18_a_csv_file_is_read_alike_in_both_ways": 0,
    "snapshot/test_loading.py::test_t18_typed_sources_are_read_alike_in_both_ways": 1,
    "snapshot/test_one_value.py::test_every_row_gets_the_smallest_present_value_of_its_unit": 2,
    "snapshot/test_owners.py::test_taking_a_unit_out_of_the_sources_takes_out_its_rows_and_no_others": 0,
    "snapshot/test_parquet_plain.py::test_t1_a_value_that_stops_a_reader_is_unreadable_and_harms_no_other_row": 2,
    "snapshot/test_postgres.py::test_batches_as_vectors_and_as_values_tell_the_same_rows": 1,
    "snapshot/test_refresh.py::test_a5_a_blank_line_is_a_row_where_each_row_is_a_unit_and_has_one_column": 1,
    "snapshot/test_refresh.py::test_a5_with_a_public_number_of_units_a_row_that_cannot_be_read_stays": 2,
    "snapshot/test_repeats.py::test_one_row_of_each_is_the_definition_in_any_order_and_unit_by_unit": 1,
    "snapshot/test_shares.py::test_units_over_each_cap": 0,
    "snapshot/test_source_types.py::test_a_column_that_changed_its_type_is_refused_and_the_version_before_stays": 2,
    "snapshot/test_source_types.py::test_a_number_that_became_a_text_is_told_until_texts_are_declared": 1,
    "snapshot/test_source_types.py::test_no_value_of_an_enumeration_is_told": 1,
    "snapshot/test_source_types.py::test_the_cure_works_pasted_back": 2,
    "snapshot/test_store.py::test_a_crash_at_any_step_leaves_a_whole_snapshot_in_force": 2,
    "snapshot/test_typed.py::test_a3_the_name_of_a_folder_replaces_no_column": 1,
    "snapshot/test_typed.py::test_a_duckdb_table": 1,
    "snapshot/test_typed.py::test_a_parquet_file": 1,
    "snapshot/test_typed.py::test_a_view_is_read_as_its_table_is_part_by_part": 1,
    "snapshot/test_typed.py::test_files_that_are_not_what_they_are_called": 2,
    "snapshot/test_typed.py::test_t1_nanoseconds_with_and_without_a_zone_are_instants": 1,
    "snapshot/test_typed.py::test_unsigned_integers_of_128_bits_are_the_numbers_that_they_are": 2,
    "snapshot/test_typed.py::test_what_is_asked_beside_a_view_is_the_engines_whatever_macros_its_file_has": 2,
    "snapshot/test_vectorised.py::test_t18_columns_that_are_cleaned_or_formatted_have_a_form_too": 8,
    "snapshot/test_vectorised.py::test_t18_the_plainest_spellings_have_a_form": 4,
    "snapshot/test_vectorised.py::test_t18_typed_values_are_cleaned_alike": 13,
    "snapshot/test_vectorised.py::test_t18_what_a_form_reads_the_grammar_reads_alike": 8,
    "standalone/test_command.py::test_a_catalog_that_declares_otherwise_is_told": 3,
    "standalone/test_command.py::test_a_gaussian_number_alone_is_priced_by_its_own_law": 0,
    "standalone/test_command.py::test_exit_codes": 3,
    "standalone/test_command.py::test_hostile_values_in_any_place_are_a_no_and_never_a_crash": 0,
    "standalone/test_mutations.py::test_what_is_free_is_so_and_is_what_it_says": 5,
    "standalone/test_numbers.py::test_a_gaussian_that_hides_less_is_refused": 0,
    "standalone/test_numbers.py::test_a_sum_from_below_the_middle_is_all_but_what_is_further_out": 1,
    "standalone/test_numbers.py::test_sums_of_a_gaussian_lie_between": 1,
    "standalone/test_numbers.py::test_the_least_variance_that_the_product_finds_is_accepted_with_hardly_any_room": 0,
    "standalone/test_reach.py::test_a_weaker_rule_would_be_seen": 0,
    "test_entropy.py::test_words_are_uniform_and_as_many_as_asked": 4,
}

ALL: Final = sys.maxsize
EXAMPLES: Final = (12, 400)  # of each test of hypothesis that has no line
POWER: Final[dict[str, tuple[int, int]]] = {  # examples in an ordinary run, and in a long one
    "aggregates/test_bars.py::test_h2_the_quoted_bar_covers_the_noise_and_the_finished_interval": (12, 500),
    "aggregates/test_moments.py::test_bars_cover_as_often_as_they_say": (50, 500),  # in each of twenty-seven
    "curator/test_distinct.py::test_at_a_huge_price_it_is_what_sql_says": (3, ALL),
    "curator/test_sets.py::test_at_a_huge_price_they_are_what_plain_sql_says": (3, ALL),
    "curator/test_readings.py::test_any_sequence_of_questions_is_charged_for_new_readings_alone": (1, 25),
    "engines/test_conformance.py::test_every_engine_gives_the_integers_of_the_reference": (3, 250),  # in each of forty
    "engines/test_functions.py::test_a_function_gives_python_s_value_beside_this_process_too": (1, 2),
    "engines/test_functions.py::test_a_function_gives_python_s_value_in_every_row": (1, 20),
    "attacks/test_adversary_surface.py::test_b6_every_small_output_is_one_that_can_be_computed": (150, ALL),
    "attacks/test_batch_as_one.py::test_row_22_amounts_chosen_in_the_light_of_answers_are_summed_as_points": (5, 20),
    "attacks/test_crash.py::test_row_19_a_kill_at_any_moment_loses_no_charge": (1, 15),  # in each of twelve
    "attacks/test_no_question_closes.py::test_row_10_no_accepted_question_can_fail_after_the_charge": (8, 250),
    "attacks/test_no_question_closes.py::test_row_10_the_same_through_the_whole_curator": (8, 40),
    "attacks/test_rows_values.py::test_row_10_what_could_raise_on_a_row_is_missing_on_both_engines": (6, ALL),
    "fronts/test_frame.py::test_a_question_is_one_request_whichever_front_asked_it": (6, 150),
    "fronts/test_frame.py::test_every_name_makes_the_trip": (20, 1000),
    "fronts/test_frame_rows.py::test_the_plan_of_a_frame_is_the_plan_of_its_sql": (15, 500),
    "fronts/test_frame.py::test_the_plan_of_a_frame_is_the_plan_of_its_sql": (12, 600),
    "fronts/test_fuzz.py::test_no_shape_of_tree_is_left_to_the_catch_all": (250, 20_000),
    "fronts/test_fuzz.py::test_only_a_plan_or_a_refusal_comes_out": (40, 20_000),  # in each of fifty
    "language/test_intervals.py::test_a_value_is_within_its_bounds": (25, 1500),
    "language/test_render.py::test_every_tree_parses_back_to_itself": (30, 1500),
    "laws/test_heart.py::test_counts_of_cut_units_move_by_one_whatever_the_caps_keys_and_clamps_are": (12, ALL),
    "laws/test_heart.py::test_with_the_others_each_claim_is_attained_or_said_not_to_be": (1, ALL),
    "laws/test_questions.py::test_every_law_holds_of_every_question": (1, 60),  # worlds of three questions, of forty
    "ledger/test_accounts.py::test_in_any_order_no_account_passes_its_limit_and_all_adds_up": (40, 400),
    "ledger/test_decide.py::test_the_budget_holds_and_a_refusal_changes_nothing": (25, 1000),
    "numbers/test_display.py::test_no_digit_is_beyond_the_noise_and_the_error_is_rounded_up": (60, 4000),
    "numbers/test_enclosure.py::test_exp_turns_sums_into_products": (30, 1500),
    "numbers/test_enclosure.py::test_ln_undoes_exp": (30, 1500),
    "numbers/test_enclosure.py::test_operations_hold_what_the_reals_give": (25, 1500),
    "numbers/test_enclosure.py::test_powers_round_outward": (30, 1500),
    "numbers/test_interval.py::test_a_point_of_each_gives_a_point_of_the_result": (20, 4000),
    "plan/test_keys.py::test_a_row_of_listed_values_has_a_listed_key_or_none": (35, 5000),
    "plan/test_merge.py::test_merging_is_invisible_and_reads_nothing_twice": (2, 135),  # in each of 24
    "pricing/test_grids.py::test_sensitivity_from_the_rounded_bounds_holds_for_every_value": (70, 4000),
    "pricing/test_joint_guarantee.py::test_it_is_the_brackets_upper_end_rounded_up_and_above_the_lower_one": (3, 100),
    "pricing/test_joint_guarantee.py::test_one_more_loss_is_never_cheaper": (3, 100),
    "pricing/test_menu.py::test_a_price_meets_its_target_and_one_step_less_does_not": (15, 500),
    "pricing/test_prices.py::test_an_epsilon_in_a_rho_ledger_is_worth_at_most_itself": (12, 400),
    "pricing/test_selecting.py::test_the_rules_promise_is_within_what_is_charged": (20, 800),
    "receipts/test_verify.py::test_a_plan_changed_with_its_digest_is_caught_where_sensitivity_rests_on_it": (60, ALL),
    "receipts/test_verify.py::test_every_changed_leaf_is_caught_by_the_signature": (60, ALL),
    "receipts/test_verify.py::test_every_claim_changed_and_signed_again_is_caught_by_deriving_it_again": (50, ALL),
    "receipts/test_verify.py::test_every_claim_of_every_kind_changed_and_signed_again_is_caught": (20, ALL),  # of six
    "sensitivity/test_admissible.py::test_pure_losses_are_within_epsilon": (1, ALL),  # of three, in each of six
    "snapshot/test_cleaned.py::test_without_one_person_the_rows_of_all_others_are_what_they_were": (2, 300),
    "snapshot/test_csv.py::test_t17_any_text_is_read_alike_in_any_chunks": (15, 3000),
    "snapshot/test_csv.py::test_t17_chunks_show_in_nothing": (25, 4000),
    "snapshot/test_repeats.py::test_one_row_of_each_is_the_definition_in_any_order_and_unit_by_unit": (7, 400),
    "snapshot/test_repeats.py::test_what_stays_is_the_definition_in_any_order_and_unit_by_unit": (7, 400),
    "snapshot/test_grammar.py::test_a_batch_agrees_with_each_cell_by_itself": (40, 3000),
    "snapshot/test_grammar.py::test_typed_batches_agree_with_each_value_and_never_raise": (40, 3000),
    "snapshot/test_refresh.py::test_taking_a_row_out_of_a_typed_source_takes_exactly_that_row_out": (1, 60),
    "snapshot/test_vectorised.py::test_t18_what_a_form_reads_the_grammar_reads_alike": (2_500, 1_000_000),  # of each
}

PAGES: Final = (  # that take seconds each: `.ci/run` and `just docs` run them, the ordinary run does not
    "accounting.md", "ad-ranking.md", "audit.md", "batches.md", "break-me.md", "coming-from.md", "currencies.md",
    "describe.md", "drug-use.md", "filters.md", "loss.md", "measures.md", "operations.md", "pictures.md", "plots.md",
    "rehearsal.md", "relations.md", "server.md", "sql-clients.md", "steward.md", "training.md",
)
REGISTRY: Final = (  # files, or functions of files
    "aggregates/test_aggregates.py::test_the_tuple_is_the_folder",
    "break_me/test_break_me.py::test_every_aggregate_is_drawn",
    "catalog/test_docs.py",
    "docs/test_complete.py",
    "docs/test_guarantees.py",
    "docs/test_promised.py",
    "engines/test_conformance.py::test_the_tuple_names_every_engine_in_the_folder",
    "engines/test_vectors.py::test_every_function_has_vectors_and_every_vector_a_function",
    "laws/test_directions.py",
    "laws/test_every_mechanism.py::test_every_class_has_a_world_or_a_reason",
    "laws/test_power.py",
    "mechanisms/test_registry.py",
    "standalone/test_forms.py",
)
LONG: Final = tuple(Path(__file__).with_name("long.txt").read_text("utf-8").split())  # as `long_tests.py` found them
NO_CLOCK: Final = 10**9  # seconds, where a limit of time is taken: no right answer may rest on how busy a machine is
QUICK: Final = 2  # cases of a test in a quick run
Item = TypeVar("Item")


class Run:
    """Whether this run is a long one, `-m slow`; tests/conftest.py says so before any test is read."""

    whole = False


def tries_of(name: str) -> int:
    """How many examples the test tries in this run. name: as in POWER."""
    if name not in POWER:
        raise LookupError(f"tests/support/power.py has no line for {name} in POWER: add its two numbers of examples")
    return POWER[name][Run.whole]


def share_of(name: str, items: Sequence[Item]) -> list[Item]:
    """So many of the items as the test tries in this run, by lot, in their order. name: also with its case in []."""
    most = tries_of(name.partition("[")[0])
    taken = range(len(items))
    if most < len(items):
        taken = sorted(random.Random(name).sample(taken, most))  # type: ignore[assignment]
    return [items[number] for number in taken]


def tried(test: Callable[..., Any]) -> Any:
    """A test of hypothesis that tries as many examples as POWER says. It stands below `given`."""
    from hypothesis import HealthCheck, settings

    file = Path(test.__code__.co_filename).relative_to(Path(__file__).parents[1]).as_posix()
    tries = tries_of(f"{file}::{test.__qualname__.replace('.', '::')}")
    return settings(max_examples=tries, suppress_health_check=list(HealthCheck))(test)


def function_of(nodeid: str) -> str:
    """tests/room/test_x.py::Class::test_y[case] as room/test_x.py::Class::test_y."""
    return nodeid.split("[", 1)[0].removeprefix("tests/")


def left_to_slow_runs(nodeids: list[str]) -> set[str]:
    """Which of these tests the ordinary run leaves out. nodeids: in the order in which they were collected."""
    cases: dict[str, list[str]] = defaultdict(list)
    for nodeid in nodeids:
        cases[function_of(nodeid)].append(nodeid)
    left: set[str] = set()
    for name, most in SAMPLED.items():
        own = cases.get(name, [])
        if most < len(own):
            left |= set(own) - {own[len(own) * n // most] for n in range(most)}
    return left


def for_examples(law: Callable[..., Any], *strategies: Any, part: int, tries: int) -> None:
    """Try a law on so many examples: those of part `part`, so that a long run is in parts of a minute at most."""
    from hypothesis import HealthCheck, given, seed, settings

    seed(part)(settings(max_examples=tries, suppress_health_check=list(HealthCheck))(given(*strategies)(law)))()


def table(nodeids: list[str]) -> list[str]:
    """What each law tries: its name, the number in an ordinary run, and in a long one. nodeids: all that there are."""
    cases: dict[str, int] = defaultdict(int)
    for nodeid in nodeids:
        cases[function_of(nodeid)] += 1
    rows = [(name, f"{min(most, cases[name])} of {cases[name]} cases", f"{max(cases[name] - most, 0)} more cases")
            for name, most in SAMPLED.items() if name in cases]
    rows += [(name, str(few), "all" if most == ALL else str(most)) for name, (few, most) in POWER.items()
             if name in cases]
    wide = max((len(name) for name, *_ in rows), default=0)
    return [f"{name:{wide}}  {few:>18}  {most:>18}" for name, few, most in sorted(rows)]


def in_part(nodeid: str, part: tuple[int, int]) -> bool:
    """Whether a test belongs to part K of N. Cases of one test go to different parts."""
    number, parts = part
    return zlib.crc32(nodeid.encode()) % parts == number % parts


def part_of(text: str) -> tuple[int, int]:
    """ "3/8" as (3, 8)."""
    number, _, parts = text.partition("/")
    if not (number.isdigit() and parts.isdigit() and int(parts) > 0):
        raise ValueError("--part takes two numbers, as in --part 3/8")
    return int(number), int(parts)


def is_registry(nodeid: str) -> bool:
    """Whether a test tells what is not registered."""
    return function_of(nodeid).startswith(REGISTRY)


def quick(nodeids: list[str]) -> set[str]:
    """The tests of a quick run: the first cases of each test, none of the long ones, no documents."""
    cases: dict[str, int] = defaultdict(int)
    kept: set[str] = set()
    long = frozenset(LONG)
    for nodeid in nodeids:
        name = function_of(nodeid)
        cases[name] += 1
        if cases[name] <= QUICK and name not in long and not name.startswith("docs/test_documents"):
            kept.add(nodeid)
    return kept
